import type { TokenUsage } from "@flint/protocol";
import type { StepUsage } from "./language-model.ts";

/** What a step used, in buckets that do not overlap; undefined if the endpoint does not say. */
export function usageOf({ inputTokens, outputTokens }: StepUsage): TokenUsage | undefined {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined;
  const cacheRead = count(inputTokens.cacheRead);
  const cacheWrite = count(inputTokens.cacheWrite);
  const thinking = count(outputTokens.reasoning);
  const input = inputTokens.noCache ?? count(inputTokens.total) - cacheRead - cacheWrite;
  const output = outputTokens.text ?? count(outputTokens.total) - thinking;
  return {
    inputTokens: count(input),
    outputTokens: count(output),
    ...(thinking === 0 ? {} : { thinkingTokens: thinking }),
    ...(cacheRead === 0 ? {} : { cacheReadTokens: cacheRead }),
    ...(cacheWrite === 0 ? {} : { cacheWriteTokens: cacheWrite }),
  };
}

/** A number that can be counted with, whatever an endpoint wrote. */
function count(tokens: number | undefined): number {
  return tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? Math.round(tokens) : 0;
}
