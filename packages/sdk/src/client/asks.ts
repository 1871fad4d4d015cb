import {
  Answers,
  ApprovalAnswer,
  errorMessage,
  FLINT,
  failedToolCall,
  ToolCallResult,
} from "@flint/protocol";
import type { Id, RpcError } from "@flint/rpc";
import { describeAction } from "@flint/view";
import { type OnWarning, problemOf } from "../errors.ts";
import type { AgentEvent } from "../events/agent-event.ts";
import type { ApprovalRequest, ReadAsk, ToolCall, UserInputRequest } from "./read-ask.ts";

/** The words that answer an approval. */
export type ApprovalChoice = Extract<ApprovalAnswer["decision"], string>;

/** An answer to an approval; "leave" means that another client of the thread shall decide. */
export type ApprovalReply = ApprovalChoice | ApprovalAnswer | "leave";

/** The context of an answer in the making: the signal fires once no answer is needed any more. */
export type AskContext = { readonly signal: AbortSignal };

/** Decides about an approval. If it throws, the action is declined. */
export type OnApproval = (
  request: ApprovalRequest,
  context: AskContext,
) => ApprovalReply | Promise<ApprovalReply>;

/** Answers by question id; several for a question that takes several. */
export type QuestionReply = Readonly<Record<string, string | readonly string[]>>;

/** Answers questions of the agent, or leaves them to another client of the thread. */
export type OnQuestion = (
  request: UserInputRequest,
  context: AskContext,
) => QuestionReply | "leave" | Promise<QuestionReply | "leave">;

/** Runs a tool that this client offers, or leaves it to another client of the thread. If it throws, the call has failed. */
export type OnToolCall = (
  request: ToolCall,
  context: AskContext,
) => ToolCallResult | "leave" | Promise<ToolCallResult | "leave">;

/** The handlers that decide, answer and run. */
export type AskHandlers = {
  readonly onApproval?: OnApproval | undefined;
  readonly onQuestion?: OnQuestion | undefined;
  readonly onToolCall?: OnToolCall | undefined;
};

/** The ways to send an answer to the server. */
export type AskReplies = {
  reply(id: Id, result: unknown): void;
  replyError(id: Id, error: RpcError): void;
};

type Outcome = { readonly result: object } | { readonly error: RpcError };
type OpenAsk = { readonly subjectId: string; readonly turnId: string; readonly controller: AbortController };

/**
 * Answers requests of the server: each gets exactly one answer, a safe one where no handler decides, or none once the
 * server has withdrawn it.
 */
export class Asks {
  readonly #handlers: AskHandlers;
  readonly #replies: AskReplies;
  readonly #warn: OnWarning;
  readonly #open = new Set<OpenAsk>();

  constructor(handlers: AskHandlers, replies: AskReplies, warn: OnWarning) {
    this.#handlers = handlers;
    this.#replies = replies;
    this.#warn = warn;
  }

  /** Takes a request of the server; resolves once it is answered or needs no answer. */
  async take(id: Id, method: string, ask: ReadAsk): Promise<void> {
    switch (ask.kind) {
      case "approval": {
        const { approvalId, turnId } = ask.request;
        return this.#settle(id, approvalId, turnId, (signal) => this.#decide(ask.request, signal));
      }
      case "question": {
        const { questionId, turnId } = ask.request;
        return this.#settle(id, questionId, turnId, (signal) => this.#answer(ask.request, signal));
      }
      case "toolCall": {
        const { callId, turnId } = ask.request;
        return this.#settle(id, callId, turnId, (signal) => this.#run(ask.request, signal));
      }
      case "unknown":
        return this.#refuse(id, "unknownRequest", {
          code: FLINT.errorCodes.methodNotFound,
          message: `This client does not know the request "${method}".`,
        });
      case "malformed":
        return this.#refuse(id, "malformedRequest", {
          code: FLINT.errorCodes.invalidParams,
          message: `The params of "${method}" do not fit: ${ask.problem}`,
        });
    }
  }

  /** Notices what was answered elsewhere or ended with its turn. */
  notice(event: AgentEvent): void {
    if (event.type === "approval/resolved") this.#abandon((ask) => ask.subjectId === event.data.approvalId);
    if (event.type === "question/resolved") this.#abandon((ask) => ask.subjectId === event.data.questionId);
    if (event.type === "tool/resolved") this.#abandon((ask) => ask.subjectId === event.data.callId);
    if (event.type === "turn/completed") this.#abandon((ask) => ask.turnId === event.data.turn.id);
  }

  /** Call when the connection has closed: no more answers are sent. */
  end(): void {
    this.#abandon(() => true);
  }

  async #settle(
    id: Id,
    subjectId: string,
    turnId: string,
    find: (signal: AbortSignal) => Promise<Outcome>,
  ): Promise<void> {
    const open: OpenAsk = { subjectId, turnId, controller: new AbortController() };
    this.#open.add(open);
    const outcome = await find(open.controller.signal);
    // Resolved elsewhere in the meantime: a late answer is not sent.
    if (!this.#open.delete(open)) return;
    if ("error" in outcome) this.#replies.replyError(id, outcome.error);
    else this.#reply(id, outcome.result);
  }

  #reply(id: Id, result: object): void {
    try {
      this.#replies.reply(id, result);
    } catch (thrown) {
      // A handler may put something into its answer that JSON cannot hold; silence would stall the turn.
      const message = `The answer cannot be sent: ${errorMessage(thrown)}`;
      this.#warn({ kind: "handlerFailed", message });
      this.#replies.replyError(id, { code: FLINT.errorCodes.internalError, message });
    }
  }

  async #decide(request: ApprovalRequest, signal: AbortSignal): Promise<Outcome> {
    const { onApproval } = this.#handlers;
    const subject = describeAction(request.action);
    if (onApproval === undefined)
      return decline(`Declined ${subject}: this client has no onApproval handler.`);
    try {
      const reply = await onApproval(request, { signal });
      if (reply === "leave") return leave(`This client leaves ${subject} to others.`);
      const answer = ApprovalAnswer.safeParse(typeof reply === "string" ? { decision: reply } : reply);
      if (answer.success) return { result: answer.data };
      return this.#declineFaulty(subject, `gave no decision: ${problemOf(answer.error)}`, signal);
    } catch (thrown) {
      // The handler is the caller's code. A fault there must never become consent.
      return this.#declineFaulty(subject, `failed: ${errorMessage(thrown)}`, signal);
    }
  }

  async #answer(request: UserInputRequest, signal: AbortSignal): Promise<Outcome> {
    const { onQuestion } = this.#handlers;
    if (onQuestion === undefined) return leave("This client has no onQuestion handler.");
    try {
      const reply = await onQuestion(request, { signal });
      if (reply === "leave") return leave("This client leaves the question to others.");
      return { result: { answers: Answers.parse(wireAnswers(reply)) } };
    } catch (thrown) {
      // The handler is the caller's code, and may also have returned something that is not an answer.
      this.#warnOfHandler(`The onQuestion handler failed: ${errorMessage(thrown)}`, signal);
      return leave(`The onQuestion handler of this client failed: ${errorMessage(thrown)}`);
    }
  }

  async #run(request: ToolCall, signal: AbortSignal): Promise<Outcome> {
    const { onToolCall } = this.#handlers;
    if (onToolCall === undefined) return leave("This client has no onToolCall handler.");
    try {
      const result = await onToolCall(request, { signal });
      if (result === "leave") return leave(`This client leaves ${request.tool} to others.`);
      return { result: ToolCallResult.parse(result) };
    } catch (thrown) {
      // The handler is the caller's code, and may also have returned something that is not a result.
      const message = `The onToolCall handler failed: ${errorMessage(thrown)}`;
      this.#warnOfHandler(message, signal);
      return { result: failedToolCall(message) };
    }
  }

  #declineFaulty(subject: string, fault: string, signal: AbortSignal): Outcome {
    const message = `Declined ${subject}: the onApproval handler ${fault}`;
    this.#warnOfHandler(message, signal);
    return decline(message);
  }

  /** A handler that was aborted and stops is not worth a warning. */
  #warnOfHandler(message: string, signal: AbortSignal): void {
    if (!signal.aborted) this.#warn({ kind: "handlerFailed", message });
  }

  #refuse(id: Id, kind: "unknownRequest" | "malformedRequest", error: RpcError): void {
    this.#warn({ kind, message: error.message });
    this.#replies.replyError(id, error);
  }

  #abandon(concerns: (ask: OpenAsk) => boolean): void {
    for (const ask of this.#open) {
      if (!concerns(ask)) continue;
      this.#open.delete(ask);
      ask.controller.abort(new Error("No answer is needed any more."));
    }
  }
}

function decline(message: string): Outcome {
  return { result: { decision: "decline", message } };
}

function leave(message: string): Outcome {
  return { error: { code: FLINT.errorCodes.unsupported, message } };
}

function wireAnswers(reply: QuestionReply): Record<string, { answers: unknown }> {
  const entries = Object.entries(reply).map(([id, given]) => {
    return [id, { answers: typeof given === "string" ? [given] : given }] as const;
  });
  return Object.fromEntries(entries);
}
