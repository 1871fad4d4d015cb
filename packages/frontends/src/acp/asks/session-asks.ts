import { type Approval, type Decision, grantKeys, type QuestionRequest } from "@flint/protocol";
import type { Ask, AskStep, ClientAsks } from "../../shared/client-asks.ts";
import { type CoreCall, callCore } from "../../shared/core-calls.ts";
import type { Client } from "../../shared/frontend.ts";
import type { ClientCapabilities } from "../capabilities.ts";
import type { UpdateFormat } from "../protocol-version.ts";
import type { ToolView } from "../views/tool-view.ts";
import { decisionOf, isRejectAlways } from "./permission.ts";
import { type ClientRequest, formRequest, isAskable, isChoice, type QuestionAnswer } from "./questions.ts";

/** Dependencies of the asks of a session. */
export interface SessionAsksOptions {
  readonly client: Client;
  readonly asks: ClientAsks;
  readonly threadId: string;
  readonly format: UpdateFormat;
  readonly capabilities: ClientCapabilities;
}

type Answers = Record<string, { answers: string[] }>;

/** Asks the client of one session for approvals and for answers to questions. The first answer of any client counts. */
export class SessionAsks {
  readonly #options: SessionAsksOptions;
  /** Actions that the user rejected for the whole session, by grant key. */
  readonly #rejected: Set<string>;

  /** A session that was opened again keeps what was rejected `before`. */
  constructor(options: SessionAsksOptions, before?: SessionAsks) {
    this.#options = options;
    this.#rejected = before === undefined ? new Set() : before.#rejected;
  }

  /** Asks for an approval, unless the user has rejected the same action for this session. */
  approval(approval: Approval, view: ToolView): void {
    const keys = grantKeys(approval.action);
    if (keys.length > 0 && keys.every((key) => this.#rejected.has(key))) {
      this.#respond(this.#deny(approval.id, "The user rejected this for the whole session."));
      return;
    }
    const { asks, format, threadId } = this.#options;
    const ask: Ask = {
      ...{ kind: "ask", key: approval.id, threadId },
      ...format.permissionRequest(threadId, approval, view),
      answered: (response) => {
        if (isRejectAlways(response)) for (const key of keys) this.#rejected.add(key);
        return this.#decide(approval.id, decisionOf(response, approval.suggestions));
      },
      refused: (message) => this.#deny(approval.id, message),
    };
    asks.ask(ask);
  }

  /** Asks questions, one request after the other. False if this client cannot be asked them. */
  question(request: QuestionRequest): boolean {
    const { asks, threadId } = this.#options;
    const [first, ...others] = this.#requestsFor(request);
    if (first === undefined) return false;
    asks.ask({
      ...{ kind: "ask", key: request.id, threadId },
      ...this.#step(request, first, others, {}),
      refused: () => this.#answer(request.id, {}),
    });
    return true;
  }

  /** Leaves questions without answers, so that the turn continues. */
  leaveUnanswered({ id }: QuestionRequest): void {
    this.#respond(this.#answer(id, {}));
  }

  /** An approval or question has its answer. */
  resolve(id: string): void {
    this.#options.asks.resolve(id);
  }

  /** Withdraws everything the client is asked in this session. */
  withdraw(): void {
    this.#options.asks.forget(this.#options.threadId);
  }

  #requestsFor(request: QuestionRequest): readonly ClientRequest<QuestionAnswer>[] {
    const { capabilities, format, threadId } = this.#options;
    if (!isAskable(request)) return [];
    if (capabilities.forms) return [formRequest(threadId, request)];
    if (!isChoice(request)) return [];
    return request.questions.map((question) => format.choiceRequest(threadId, request.itemId, question));
  }

  #step(
    request: QuestionRequest,
    { method, params, read }: ClientRequest<QuestionAnswer>,
    [next, ...others]: readonly ClientRequest<QuestionAnswer>[],
    before: Answers,
  ): AskStep {
    const answered = (response: unknown): CoreCall | AskStep => {
      const given = read(response);
      if (given === undefined) return this.#answer(request.id, {});
      const answers = { ...before, ...given };
      return next === undefined
        ? this.#answer(request.id, answers)
        : this.#step(request, next, others, answers);
    };
    return { method, params, answered };
  }

  #deny(approvalId: string, message: string): CoreCall {
    return this.#decide(approvalId, { outcome: "deny", scope: "once", message });
  }

  #decide(approvalId: string, decision: Decision): CoreCall {
    const { threadId } = this.#options;
    return { method: "approval/respond", params: { threadId, approvalId, decision } };
  }

  #answer(questionId: string, answers: Answers): CoreCall {
    const { threadId } = this.#options;
    return { method: "question/respond", params: { threadId, questionId, answers } };
  }

  #respond(call: CoreCall): void {
    // Expected: it was resolved in the meantime, or cannot be stored; then it stays open until its time limit.
    callCore(this.#options.client.core, call).catch(() => undefined);
  }
}
