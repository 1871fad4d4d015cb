import type { TokenUsage } from "@flint/protocol";

/** What a call took as OpenAI counts it: cached input counts as input, and thinking as output. */
export interface OpenAiUsage {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly thinking: number;
  readonly total: number;
}

/** Counts as OpenAI does. */
export function openAiUsage(usage: TokenUsage): OpenAiUsage {
  const cached = usage.cacheReadTokens ?? 0;
  const input = usage.inputTokens + cached + (usage.cacheWriteTokens ?? 0);
  const thinking = usage.thinkingTokens ?? 0;
  const output = usage.outputTokens + thinking;
  return { input, cached, output, thinking, total: input + output };
}
