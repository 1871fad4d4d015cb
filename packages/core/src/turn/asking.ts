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
import type { ActionGuarantees, ClientToolCall } from "../ports/index.ts";
import { wellFormed } from "../text/characters.ts";
import type { TurnFiles } from "./files.ts";

const NOT_ALLOWED: Decision = { outcome: "cancel", scope: "once", message: "The turn has ended." };
const TOO_LATE: ToolCallResult = failedToolCall("The turn has ended.");

/** What asking needs of its turn. */
export interface TurnRequestsOptions {
  readonly turnId: string;
  readonly requests: OpenRequests;
  readonly guard: BudgetGuard;
  readonly files: TurnFiles | undefined;
  /** Whether the turn has ended or is about to. */
  isOver(): boolean;
  /** Somebody said no to the whole turn. */
  cancelTurn(): void;
  /** What was asked could not be stored. */
  onError(error: unknown): void;
}

/** What the agent of a turn may ask for. It is answered until the turn is over, and never with a rejection. */
export class TurnRequests {
  readonly #options: TurnRequestsOptions;

  constructor(options: TurnRequestsOptions) {
    this.#options = options;
  }

  /** Whether the agent may act. What it may is undoable: the files are saved before. */
  async approve(agent: string, action: Action, promise?: ActionGuarantees): Promise<Decision> {
    const { turnId, requests, files, isOver } = this.#options;
    const ask = () => requests.approve(turnId, agent, wellFormed(action), promise);
    const decision = await this.#waitForUser(ask, NOT_ALLOWED);
    // To cancel is to say no to the whole turn, whatever its agent makes of it.
    if (decision.outcome === "cancel" && !isOver()) this.#options.cancelTurn();
    if (decision.outcome !== "allow" || files === undefined) return decision;
    await files.beforeAction(action);
    return isOver() ? NOT_ALLOWED : decision;
  }

  /** What the user says; nothing if nobody answered. */
  ask(itemId: string, questions: readonly UserQuestion[]): Promise<Answers> {
    const { turnId, requests } = this.#options;
    return this.#waitForUser(() => requests.question(turnId, itemId, wellFormed(questions)), {});
  }

  /** What came of a client's tool. Nobody is waited for as a person is, so the time counts. */
  callTool(call: ClientToolCall): Promise<ToolCallResult> {
    const { turnId, requests } = this.#options;
    return this.#answerInTime(() => requests.callTool(turnId, wellFormed(call)), TOO_LATE);
  }

  #waitForUser<Answer>(ask: () => Promise<Answer>, otherwise: Answer): Promise<Answer> {
    return this.#answerInTime(() => this.#options.guard.waiting(ask), otherwise);
  }

  /** What somebody answers; `otherwise` if it comes too late or what is asked cannot be stored. */
  async #answerInTime<Answer>(ask: () => Promise<Answer>, otherwise: Answer): Promise<Answer> {
    const { guard, isOver, onError } = this.#options;
    const held = guard.held();
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
