import type { TokenUsage } from "@flint/protocol";
import { tokensOf } from "./conversation.ts";
import { type Model, type ModelPart, type ModelRequest, tokensInCharacters } from "./model.ts";
import { partsOf } from "./offline/move.ts";
import { nextMoves } from "./offline/moves.ts";

/**
 * A model that follows fixed rules: the same conversation always gets the same answer. It needs no key and no network,
 * and it says what it can do when it is asked for more.
 */
export class OfflineModel implements Model {
  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart> {
    let written = 0;
    let thought = 0;
    for (const move of nextMoves(request)) {
      for (const part of partsOf(move)) {
        if (signal.aborted) return;
        if (part.type === "reasoning-delta") thought += part.text.length;
        else written += part.type === "text-delta" ? part.text.length : JSON.stringify(part).length;
        yield part;
      }
    }
    yield { type: "usage", usage: usageOf(request, written, thought) };
    yield { type: "finish" };
  }
}

function usageOf(request: ModelRequest, written: number, thought: number): TokenUsage {
  const usage = { inputTokens: tokensOf(request.messages), outputTokens: tokensInCharacters(written) };
  return thought === 0 ? usage : { ...usage, thinkingTokens: tokensInCharacters(thought) };
}
