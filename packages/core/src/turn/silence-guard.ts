import { formatEndpoint, isKnownItem, type ThreadItem, type TurnError } from "@flint/protocol";
import type { Clock, DriverEvent, RefusedConnection } from "../ports/index.ts";

/** The parts of its turn that a guard uses. */
export interface SilenceGuardOptions {
  readonly clock: Clock;
  /** Time for which the agent may report nothing. Absent: unlimited. */
  readonly limitMs: number | undefined;
  /** Connections of the agent itself that were refused or failed. */
  refused(): readonly RefusedConnection[];
  /** Ends the turn for this reason. */
  silent(error: TurnError): void;
}

/** Items in which a model speaks. While any other is open, a tool or a command runs, which may take its time. */
const SPOKEN: ReadonlySet<string> = new Set(["agentMessage", "reasoning", "plan", "userMessage"]);

/** Time for which an agent may try again without an answer of its model. */
const UNREACHABLE_MS = 300_000;

/** Reports that say nothing about whether the model answers. */
const BESIDE: ReadonlySet<string> = new Set(["warning", "session", "position", "limits"]);

/**
 * Ends a turn whose agent lives and reports nothing, or nothing but that it tries again to reach its model. Silence counts only while its model is expected to speak: not while
 * a tool or a command runs, and not while the user or a client is asked.
 */
export class SilenceGuard {
  readonly #options: SilenceGuardOptions;
  readonly #openTools = new Set<string>();
  #requests = 0;
  #agent = "";
  #lastReport = 0;
  #cancel: (() => void) | undefined;
  /** The last failure to reach the model, and when they began. */
  #unreachable: { readonly error: TurnError; readonly cancel: () => void } | undefined;

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
    this.#observeFailure(event);
    if (event.type === "item/started" && !isSpoken(event.item)) this.#openTools.add(event.item.id);
    else if (event.type === "item/completed") this.#openTools.delete(event.item.id);
  }

  /** Runs a request of the agent; while it is open, the agent waits. */
  async during<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    this.#requests += 1;
    this.#reached();
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
    this.#reached();
  }

  /** A response with a status is an answer: how often that is tried again is for the agent to limit. */
  #observeFailure(event: DriverEvent): void {
    if (BESIDE.has(event.type)) return;
    const isFailure = event.type === "error" && event.willRetry && event.error.httpStatusCode === undefined;
    if (!isFailure) this.#reached();
    if (!isFailure || this.#requests > 0) return;
    const { error } = event;
    const cancel =
      this.#unreachable?.cancel ?? this.#options.clock.after(UNREACHABLE_MS, () => this.#giveUp());
    this.#unreachable = { error, cancel };
  }

  #reached(): void {
    this.#unreachable?.cancel();
    this.#unreachable = undefined;
  }

  #giveUp(): void {
    const { message = "", additionalDetails } = this.#unreachable?.error ?? {};
    const last = additionalDetails === undefined ? message : `${message} (${additionalDetails})`;
    const refused = this.#options
      .refused()
      .map(
        ({ reason, ...endpoint }) => ` It may not or cannot reach ${formatEndpoint(endpoint)}: ${reason}.`,
      );
    const seconds = UNREACHABLE_MS / 1000;
    const text = `${this.#agent} did not reach its model for ${seconds} seconds and was stopped. Its last report: ${last}.${refused.join("")}`;
    this.#options.silent({ message: text, errorInfo: "AgentFailed" });
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
