import { isKnownItem, type ThreadItem, type TurnError } from "@flint/protocol";
import type { Clock, DriverEvent } from "../ports/index.ts";

/** The parts of its turn that a guard uses. */
export interface SilenceGuardOptions {
  readonly clock: Clock;
  /** Time for which the agent may report nothing. Absent: unlimited. */
  readonly limitMs: number | undefined;
  /** Ends the turn for this reason. */
  silent(error: TurnError): void;
}

/** Items in which a model speaks. While any other is open, a tool or a command runs, which may take its time. */
const SPOKEN: ReadonlySet<string> = new Set(["agentMessage", "reasoning", "plan", "userMessage"]);

/**
 * Ends a turn whose agent lives and reports nothing. Silence counts only while its model is expected to speak: not while
 * a tool or a command runs, and not while the user or a client is asked.
 */
export class SilenceGuard {
  readonly #options: SilenceGuardOptions;
  readonly #openTools = new Set<string>();
  #requests = 0;
  #agent = "";
  #lastReport = 0;
  #cancel: (() => void) | undefined;

  constructor(options: SilenceGuardOptions) {
    this.#options = options;
  }

  /** Begins to listen, when the agent has its prompt. */
  begin(agent: string): void {
    const { clock, limitMs } = this.#options;
    this.#agent = agent;
    this.#lastReport = clock.monotonic();
    if (limitMs !== undefined) this.#cancel = clock.after(limitMs, () => this.#check(limitMs));
  }

  /** Takes note of what the agent reports. Cheap, because it is called with every delta. */
  observe(event: DriverEvent): void {
    this.#lastReport = this.#options.clock.monotonic();
    if (event.type === "item/started" && !isSpoken(event.item)) this.#openTools.add(event.item.id);
    else if (event.type === "item/completed") this.#openTools.delete(event.item.id);
  }

  /** Runs a request of the agent; while it is open, the agent waits. */
  async during<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    this.#requests += 1;
    try {
      return await request();
    } finally {
      this.#requests -= 1;
      this.#lastReport = this.#options.clock.monotonic();
    }
  }

  /** To be called when the turn is over. */
  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #check(limitMs: number): void {
    const { clock, silent } = this.#options;
    if (this.#requests > 0 || this.#openTools.size > 0) this.#lastReport = clock.monotonic();
    const left = limitMs - (clock.monotonic() - this.#lastReport);
    if (left > 0) {
      this.#cancel = clock.after(left, () => this.#check(limitMs));
      return;
    }
    const message = `${this.#agent} sent nothing for ${limitMs / 1000} seconds and was stopped. Send the prompt again, or raise silence_timeout.`;
    silent({ message, errorInfo: "AgentFailed" });
  }
}

function isSpoken(item: ThreadItem): boolean {
  return isKnownItem(item) && SPOKEN.has(item.type);
}
