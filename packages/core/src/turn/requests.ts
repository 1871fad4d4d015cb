import {
  type Action,
  type Answers,
  type Decision,
  failedToolCall,
  type ToolCallResult,
  type UserQuestion,
} from "@flint/protocol";
import type { OpenRequests } from "../approval/open-requests.ts";
import type { BudgetGuard } from "../budget/budget-guard.ts";
import type { RerunOffers } from "../denials/rerun.ts";
import type { ActionDecision, ActionGuarantees, ClientToolCall } from "../ports/index.ts";
import { wellFormed } from "../text/characters.ts";
import type { TurnFiles } from "./files.ts";

const NOT_ALLOWED: ActionDecision = { outcome: "cancel", scope: "once", message: "The turn has ended." };
const OFFERED_BEFORE: Decision = {
  ...{ outcome: "deny", scope: "once" },
  message: "The same was offered before in this thread.",
};
const TOO_LATE: ToolCallResult = failedToolCall("The turn has ended.");

/** Dependencies of requests on their turn. */
export interface TurnRequestsOptions {
  readonly turnId: string;
  readonly requests: OpenRequests;
  readonly guard: BudgetGuard;
  readonly files: TurnFiles | undefined;
  /** Offers that were made before in this thread. */
  readonly offers: RerunOffers;
  /** Reports whether the turn has ended or is about to. */
  hasEnded(): boolean;
  /** Called when the user cancels the whole turn. */
  cancelTurn(): void;
  /** Called when folders became writable for a change that the agent can make once it has ended its work. */
  onOpened(action: Action, folders: readonly string[]): void;
  /** Called when a request could not be stored. */
  onError(error: unknown): void;
}

/** The requests of a turn's agent to the user and to clients. Answered until the turn is over; never rejects. */
export class TurnRequests {
  readonly #options: TurnRequestsOptions;

  constructor(options: TurnRequestsOptions) {
    this.#options = options;
  }

  /** Requests approval of an action. The files it may change are saved before it is allowed. */
  async approve(agent: string, action: Action, guarantees?: ActionGuarantees): Promise<ActionDecision> {
    const { turnId, requests, files, offers, hasEnded: isOver } = this.#options;
    if (!offers.admit(action)) return OFFERED_BEFORE;
    const ask = () => requests.approve(turnId, agent, wellFormed(action), guarantees);
    const decision = await this.#waitForUser(ask, NOT_ALLOWED);
    // Cancelling stops the whole turn, whatever its agent does with the decision.
    if (decision.outcome === "cancel" && !isOver()) this.#options.cancelTurn();
    if (decision.opened !== undefined) this.#options.onOpened(action, decision.opened);
    if (decision.outcome !== "allow" || files === undefined) return decision;
    await files.beforeAction(action);
    return isOver() ? NOT_ALLOWED : decision;
  }

  /** Asks the user; an empty record if there is no answer. */
  ask(itemId: string, questions: readonly UserQuestion[]): Promise<Answers> {
    const { turnId, requests } = this.#options;
    return this.#waitForUser(() => requests.question(turnId, itemId, wellFormed(questions)), {});
  }

  /** Has a client run a tool. No user is waited for, so the time counts towards the budget. */
  callTool(call: ClientToolCall): Promise<ToolCallResult> {
    const { turnId, requests } = this.#options;
    return this.#answerInTime(() => requests.callTool(turnId, wellFormed(call)), TOO_LATE);
  }

  #waitForUser<Answer>(ask: () => Promise<Answer>, otherwise: Answer): Promise<Answer> {
    return this.#answerInTime(() => this.#options.guard.waiting(ask), otherwise);
  }

  /** The answer; `otherwise` if it comes too late or the request cannot be stored. */
  async #answerInTime<Answer>(ask: () => Promise<Answer>, otherwise: Answer): Promise<Answer> {
    const { guard, hasEnded: isOver, onError } = this.#options;
    const held = guard.budgetAvailable();
    if (held !== undefined) await held;
    if (isOver()) return otherwise;
    try {
      const answer = await ask();
      return isOver() ? otherwise : answer;
    } catch (error) {
      onError(error);
      return otherwise;
    }
  }
}
