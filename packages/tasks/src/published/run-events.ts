import type { PublishedEvent, TaskEventBody, TaskEventData, TaskState, Thread } from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";
import type { RoleName, RunObserver } from "../run/run-observer.ts";
import type { TaskStore } from "../store/task-store.ts";
import type { EventSink } from "./event-stream.ts";
import { type Fallback, modelOf, TurnEvents } from "./turn-events.ts";

/** Interval at which a running turn is reported. */
const HEARTBEAT_MS = 30_000;

/** Publishes the events of the turns of one run, and regular signs that they continue. */
export class RunEvents implements RunObserver {
  readonly #sink: EventSink;
  readonly #now: () => number;
  readonly #count = { turns: 0 };
  readonly #roles = new Map<RoleName, TurnEvents>();
  /** The agents that take over a role and have no thread yet. */
  readonly #fallbacks: Map<RoleName, Fallback>;
  #heartbeat: NodeJS.Timeout | undefined;

  /** `log` is what happened to the task before; an agent may have failed in an earlier run. */
  constructor(sink: EventSink, now: () => number, state: TaskState, log: readonly TaskEventBody[]) {
    this.#sink = sink;
    this.#now = now;
    this.#fallbacks = openFallbacks(state, log);
  }

  /** Observes a run that is about to start. */
  static async of(
    sink: EventSink,
    now: () => number,
    state: TaskState,
    store: Pick<TaskStore, "events">,
  ): Promise<RunEvents> {
    // Only an agent that took over a role has anything in the log that its events need.
    const hasFallback = state.executor > 0 || state.reviewer > 0;
    return new RunEvents(sink, now, state, hasFallback ? await store.events(state.id) : []);
  }

  onThread(state: TaskState, role: RoleName, thread: Thread, isResumed: boolean): void {
    const news = this.#of(state, role);
    this.#publish(...news.opened(thread, isResumed, this.#now()));
    const fallback = this.#fallbacks.get(role);
    if (fallback === undefined) return;
    this.#fallbacks.delete(role);
    this.#publish(news.tookOver(fallback, this.#now()));
  }

  onEvent(state: TaskState, role: RoleName, event: AgentEvent): void {
    const news = this.#of(state, role);
    this.#publish(...news.of(event, this.#now()));
    if (event.type === "turn/started") this.#beat(news);
    if (event.type === "turn/completed") this.stop();
  }

  onFallback(state: TaskState, { role, index, reason }: TaskEventData<"task/fallback">): void {
    const failed = this.#of(atAgent(state, role, index - 1), role);
    const fallback = { failedThreadId: failed.threadId, model: modelOf(state, role), reason };
    this.#fallbacks.set(role, fallback);
    this.#publish(failed.retrying(fallback, this.#now()));
    // The agent that takes over has a context of its own.
    this.#roles.delete(role);
  }

  /** No turn runs any longer. */
  stop(): void {
    clearInterval(this.#heartbeat);
  }

  #publish(...news: readonly PublishedEvent[]): void {
    for (const each of news) this.#sink.publish(each);
  }

  #of(state: TaskState, role: RoleName): TurnEvents {
    const known = this.#roles.get(role);
    if (known !== undefined) return known;
    const made = new TurnEvents(state, role, this.#count, this.#now());
    this.#roles.set(role, made);
    return made;
  }

  #beat(news: TurnEvents): void {
    this.stop();
    const started = this.#now();
    this.#heartbeat = setInterval(() => {
      const now = this.#now();
      this.#publish(news.heartbeat(Math.round((now - started) / 1000), now));
    }, HEARTBEAT_MS);
    this.#heartbeat.unref();
  }
}

/** The state as it was when an earlier agent of the role worked. */
function atAgent(state: TaskState, role: RoleName, index: number): TaskState {
  return role === "executor" ? { ...state, executor: index } : { ...state, reviewer: index };
}

/** The agents that took over a role in an earlier run, and got no thread before it ended. */
function openFallbacks(state: TaskState, log: readonly TaskEventBody[]): Map<RoleName, Fallback> {
  const open = new Map<RoleName, Fallback>();
  const threads = new Map<RoleName, string>();
  for (const { type, data } of log) {
    if (type === "round/turn") {
      threads.set(data.role, data.turn.threadId);
      open.delete(data.role);
    } else if (type === "task/fallback") {
      const { role, index, reason } = data;
      const failedThreadId = threads.get(role) ?? null;
      open.set(role, { failedThreadId, model: modelOf(atAgent(state, role, index), role), reason });
    } else if (type === "attempt/started") open.clear();
  }
  return open;
}
