import { type TokenUsage, totalTokens } from "@flint/protocol";
import type { CodexTokens } from "@flint/protocol/codex";

/** Tokens as Codex counts them: what was cached is part of the input, and reasoning is part of the output. */
export function tokensOf(usage: TokenUsage): CodexTokens {
  const { cacheReadTokens = 0, cacheWriteTokens = 0, thinkingTokens = 0 } = usage;
  return {
    totalTokens: totalTokens(usage),
    inputTokens: usage.inputTokens + cacheReadTokens + cacheWriteTokens,
    cachedInputTokens: cacheReadTokens,
    cacheWriteInputTokens: cacheWriteTokens,
    outputTokens: usage.outputTokens + thinkingTokens,
    reasoningOutputTokens: thinkingTokens,
  };
}
