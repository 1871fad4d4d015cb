import type { TaskState } from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";
import type { NewsSink } from "./news-stream.ts";
import { TurnNews } from "./turn-news.ts";

/** How often a turn that goes on is reported. */
const HEARTBEAT_MS = 30_000;

type Role = "executor" | "reviewer";

/** Publishes what happens in the turns of one run, and that they go on. */
export class RunNews {
  readonly #sink: NewsSink;
  readonly #now: () => number;
  readonly #roles = new Map<Role, TurnNews>();
  #heartbeat: NodeJS.Timeout | undefined;
  #executor: number | undefined;

  constructor(sink: NewsSink, now: () => number) {
    this.#sink = sink;
    this.#now = now;
  }

  onEvent(state: TaskState, role: Role, event: AgentEvent): void {
    const news = this.#of(state, role);
    for (const each of news.of(event, this.#now())) this.#sink.publish(each);
    if (event.type === "turn/started") this.#beat(news);
    if (event.type === "turn/completed") this.stop();
  }

  /** No turn goes on any more. */
  stop(): void {
    clearInterval(this.#heartbeat);
  }

  #of(state: TaskState, role: Role): TurnNews {
    const known = this.#roles.get(role);
    const hasChanged =
      role === "executor" && this.#executor !== undefined && this.#executor !== state.executor;
    if (role === "executor") this.#executor = state.executor;
    if (known !== undefined && !hasChanged) return known;
    const model = state.spec.executors[state.executor]?.model ?? "default";
    if (known !== undefined)
      this.#sink.publish(known.fallback(model, "The agent before it could not go on.", this.#now()));
    const made = new TurnNews(state, role);
    this.#roles.set(role, made);
    return made;
  }

  #beat(news: TurnNews): void {
    this.stop();
    const started = this.#now();
    this.#heartbeat = setInterval(() => {
      const now = this.#now();
      this.#sink.publish(news.heartbeat(Math.round((now - started) / 1000), now));
    }, HEARTBEAT_MS);
    this.#heartbeat.unref();
  }
}
