import type { ReportedLimit, TurnError, UsageLimit } from "@flint/protocol";
import type { ThreadLog } from "../thread/log.ts";
import type { UsageLimits } from "./usage-limits.ts";

/** The usage limits that the agent of one turn reports. */
export class TurnLimits {
  readonly #threadId: string;
  readonly #log: ThreadLog;
  readonly #limits: UsageLimits;

  constructor(threadId: string, log: ThreadLog, limits: UsageLimits) {
    this.#threadId = threadId;
    this.#log = log;
    this.#limits = limits;
  }

  /** Stores what the agent reports, and sends it to clients if it changed anything. */
  report(agent: string, reported: readonly ReportedLimit[]): void {
    this.#send(agent, this.#limits.report(agent, reported));
  }

  /** An error with the usage limit behind it, if that is why the turn failed. */
  explained(agent: string, error: TurnError): TurnError {
    const limit = this.#limits.behind(agent, error);
    if (limit === undefined) return error;
    const { agent: _agent, reportedAtMs: _at, ...reported } = limit;
    if (limit.source === "text") this.report(agent, [reported]);
    return { ...error, errorInfo: "UsageLimitExceeded", limit };
  }

  #send(agent: string, limits: readonly UsageLimit[] | undefined): void {
    if (limits === undefined) return;
    const data = { threadId: this.#threadId, agent, limits: [...limits] };
    this.#log.sendLive({ type: "account/limits", data });
  }
}
