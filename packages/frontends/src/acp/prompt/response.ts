import { type FlintError, type TokenUsage, totalTokens as total } from "@flint/protocol";
import { AcpError } from "../vocabulary.ts";
import type { InputCallbacks, InputResult } from "./pending-inputs.ts";
import { stopReasonOf } from "./stop-reason.ts";

/** A `session/prompt` request without a response. */
export class PromptRequest {
  readonly sessionId: string;
  isCancelled = false;
  /** True if the client cancelled the request itself, not only the work on it. */
  isWithdrawn = false;
  #cancel: (() => Promise<void>) | undefined;

  constructor(sessionId: string) {
    this.sessionId = sessionId;
  }

  /** Its input, or one that follows it, was sent and can be cancelled. */
  sent(cancel: () => Promise<void>): void {
    this.#cancel = cancel;
  }

  /** Cancels the request: the client does not wait for its response any more. */
  async withdraw(): Promise<void> {
    this.isWithdrawn = true;
    this.isCancelled = true;
    await this.#cancel?.();
  }
}

/** Dependencies for responding to a prompt. */
export interface PromptResponder {
  readonly session: { readonly turnUsage: TokenUsage };
  readonly request: PromptRequest;
  reply(response: object): void;
  resolve(): void;
  reject(error: Error): void;
}

/** Responds with the stop reason when the turn has ended, as in version 1. */
export function respondAtEnd(responder: PromptResponder): InputCallbacks {
  const { session, request, reply, resolve, reject } = responder;
  return {
    onEnd: (result) => {
      const response = request.isWithdrawn ? withdrawn() : responseTo(result, session.turnUsage);
      if (response instanceof Error) return reject(response);
      reply(response);
      resolve();
    },
  };
}

/** Responds with the message id once the message is in the conversation, as in version 2; updates report the end. */
export function respondOnInsert({ reply, resolve, reject }: PromptResponder): InputCallbacks {
  let isAnswered = false;
  return {
    onInserted: (messageId) => {
      if (isAnswered) return;
      isAnswered = true;
      reply({ messageId });
      resolve();
    },
    onEnd: (result) => {
      if (!isAnswered) reject(result.kind === "failed" ? result.error : withdrawn());
    },
  };
}

function withdrawn(): FlintError {
  return new AcpError("requestCancelled", "The request was cancelled.");
}

function responseTo(result: InputResult, turnUsage: TokenUsage): object | FlintError {
  switch (result.kind) {
    case "failed":
      return result.error;
    case "cancelled":
      return { stopReason: "cancelled" };
    case "done":
      return { stopReason: "end_turn" };
    case "turn": {
      const stopReason = stopReasonOf(result.turn);
      return typeof stopReason === "string" ? { stopReason, ...usageOf(turnUsage) } : stopReason;
    }
  }
}

/** The token usage of a turn, which is not in the stable protocol; nothing if the agent did not report any. */
function usageOf(usage: TokenUsage): object {
  const totalTokens = total(usage);
  if (totalTokens === 0) return {};
  const { inputTokens, outputTokens, thinkingTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const cached = { cachedReadTokens: cacheReadTokens, cachedWriteTokens: cacheWriteTokens };
  return { usage: { totalTokens, inputTokens, outputTokens, thoughtTokens: thinkingTokens, ...cached } };
}
