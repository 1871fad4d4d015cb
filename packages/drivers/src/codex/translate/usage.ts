import type { TokenUsage } from "@flint/protocol";
import type { CodexTokens } from "@flint/protocol/codex";

/** Tokens in Flint's buckets: Codex counts what was cached with the input, and reasoning with the output. */
export function tokenUsage(tokens: CodexTokens): TokenUsage {
  const { inputTokens, cachedInputTokens, cacheWriteInputTokens = 0 } = tokens;
  const { outputTokens, reasoningOutputTokens } = tokens;
  return {
    inputTokens: Math.max(0, inputTokens - cachedInputTokens - cacheWriteInputTokens),
    outputTokens: Math.max(0, outputTokens - reasoningOutputTokens),
    thinkingTokens: reasoningOutputTokens,
    cacheReadTokens: cachedInputTokens,
    cacheWriteTokens: cacheWriteInputTokens,
  };
}
