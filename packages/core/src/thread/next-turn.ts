import { agentOfModel } from "@flint/protocol";
import type { AgentInitiatedWork, Clock } from "../ports/index.ts";
import type { SettingsLocks } from "../settings/settings-locks.ts";
import { type DecidedTurn, decideQueuedTurn, decideTurn, type StartedTurn } from "../turn/decisions.ts";
import type { ThreadLog } from "./log.ts";
import type { PendingInputs } from "./pending-inputs.ts";

/** The turn that follows the last one without a request of a client: work that the agent initiated, then queued input. */
export class NextTurn {
  readonly #log: ThreadLog;
  readonly #clock: Clock;
  readonly #locks: SettingsLocks | undefined;
  readonly #pending: PendingInputs;
  /** Work that the agent initiated, until it has a turn. */
  #agentInitiated: { readonly agent: string; readonly work: AgentInitiatedWork } | undefined;
  /**
   * True if queued input starts the next turn. False after a turn that did not complete, until the user
   * starts another.
   */
  #continuesQueue = false;

  constructor(log: ThreadLog, clock: Clock, locks: SettingsLocks | undefined, pending: PendingInputs) {
    this.#log = log;
    this.#pending = pending;
    this.#clock = clock;
    this.#locks = locks;
  }

  /** Adds work that an agent initiated, which gets a turn ahead of the queued input. */
  add(agent: string, work: AgentInitiatedWork): void {
    this.#agentInitiated = { agent, work };
  }

  /** Reports whether another turn may follow one that ended like this. */
  after(status: "completed" | "interrupted" | "failed", isAgentInitiated: boolean): boolean {
    // After an interruption or a failure the user should look before the queue continues.
    this.#continuesQueue = status === "completed" && (!isAgentInitiated || this.#continuesQueue);
    return this.#continuesQueue || this.#agentInitiated !== undefined;
  }

  /** Commits the turn that is next, if there is one, and starts it. Never rejects. */
  async start(start: (turn: StartedTurn) => void): Promise<void> {
    const work = this.#takeAgentInitiated();
    try {
      const decided = work === undefined ? this.#decideQueued() : this.#decideAgentInitiated(work);
      if (decided === undefined) return;
      await this.#log.commit(decided.events);
      start(decided.started);
    } catch {
      // The log cannot be written, the budget is used up, or settings are locked: the input stays queued, and the next
      // request reports it.
      work?.refuse();
    }
  }

  #decideQueued(): DecidedTurn | undefined {
    const { state } = this.#log;
    // Input that was sent to the agent already is left to the request that sent it.
    const next = this.#continuesQueue ? state.queue.find(({ id }) => !this.#pending.has(id)) : undefined;
    return next === undefined ? undefined : decideQueuedTurn(state, next, this.#clock.now(), this.#locks);
  }

  #decideAgentInitiated({ reason }: AgentInitiatedWork): DecidedTurn {
    const request = { kind: "prompt", input: [], agentInitiated: reason } as const;
    return decideTurn(this.#log.state, request, this.#clock.now(), this.#locks);
  }

  /** The work that still waits for a turn, if its agent is still that of the thread. */
  #takeAgentInitiated(): AgentInitiatedWork | undefined {
    const { agent, work } = this.#agentInitiated ?? {};
    this.#agentInitiated = undefined;
    if (work?.isWaiting() !== true) return undefined;
    if (agent === agentOfModel(this.#log.state.settings.model)) return work;
    work.refuse();
    return undefined;
  }
}
