import { type FlintError, type TokenUsage, totalTokens as total } from "@flint/protocol";
import { AcpRefusal } from "../errors.ts";
import type { AcpSession } from "../sessions/session.ts";
import { stopOf } from "./stop-reason.ts";
import type { InputEnd, InputWatch } from "./turns.ts";

/** A prompt that has no answer yet. */
export class PromptRequest {
  readonly sessionId: string;
  isCancelled = false;
  isTakenBack = false;
  #cancel: (() => Promise<void>) | undefined;

  constructor(sessionId: string) {
    this.sessionId = sessionId;
  }

  /** Its input, or what follows from it, is sent and can be stopped like this. */
  sent(cancel: () => Promise<void>): void {
    this.#cancel = cancel;
  }

  /** The client does not want its answer any more. */
  async takeBack(): Promise<void> {
    this.isTakenBack = true;
    this.isCancelled = true;
    await this.#cancel?.();
  }
}

/** What it takes to answer a prompt. */
export interface Answering {
  readonly session: AcpSession;
  readonly request: PromptRequest;
  reply(answer: object): void;
  resolve(): void;
  reject(error: Error): void;
}

/** Answers when the turn has ended: with why it stopped. */
export function atEnd({ session, request, reply, resolve, reject }: Answering): InputWatch {
  return {
    onEnd: (end) => {
      const answer = request.isTakenBack ? takenBack() : answerTo(end, session);
      if (answer instanceof Error) return reject(answer);
      reply(answer);
      resolve();
    },
  };
}

/** Answers when the message stands in the conversation; how its turn ends is told in updates. */
export function atOnce({ reply, resolve, reject }: Answering): InputWatch {
  let isAnswered = false;
  return {
    onInserted: (messageId) => {
      if (isAnswered) return;
      isAnswered = true;
      reply({ messageId });
      resolve();
    },
    onEnd: (end) => {
      if (!isAnswered) reject(end.kind === "failed" ? end.error : takenBack());
    },
  };
}

function takenBack(): FlintError {
  return new AcpRefusal("requestCancelled", "The request was cancelled.");
}

function answerTo(end: InputEnd, { turnUsage }: AcpSession): object | FlintError {
  switch (end.kind) {
    case "failed":
      return end.error;
    case "cancelled":
      return { stopReason: "cancelled" };
    case "done":
      return { stopReason: "end_turn" };
    case "turn": {
      const stop = stopOf(end.turn);
      return typeof stop === "string" ? { stopReason: stop, ...usageOf(turnUsage) } : stop;
    }
  }
}

/** What a turn used, as agents tell it beside the stable protocol; nothing if nobody told. */
function usageOf(usage: TokenUsage): object {
  const totalTokens = total(usage);
  if (totalTokens === 0) return {};
  const { inputTokens, outputTokens, thinkingTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const cached = { cachedReadTokens: cacheReadTokens, cachedWriteTokens: cacheWriteTokens };
  return { usage: { totalTokens, inputTokens, outputTokens, thoughtTokens: thinkingTokens, ...cached } };
}
