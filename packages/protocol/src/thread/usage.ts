import * as z from "zod/mini";
import { Id } from "../wire/ids.ts";
import { looseObject } from "../wire/loose-object.ts";

/**
 * Tokens in buckets that do not overlap: input that was not cached, input read from and written to the cache,
 * output without thinking, and thinking. Their sum is the total; each wire derives its own shape.
 */
export const TokenUsage = looseObject(() => ({
  inputTokens: z.number(),
  outputTokens: z.number(),
  thinkingTokens: z.optional(z.number()),
  cacheReadTokens: z.optional(z.number()),
  cacheWriteTokens: z.optional(z.number()),
}));
export type TokenUsage = z.output<typeof TokenUsage>;

/** The usage of the latest model call, its turn, and the context window of the model. */
export const LastUsage = looseObject(() => ({
  turnId: Id,
  usage: TokenUsage,
  modelContextWindow: z.optional(z.number()),
}));
export type LastUsage = z.output<typeof LastUsage>;

/** Nothing used yet. */
export const NO_USAGE: TokenUsage = { inputTokens: 0, outputTokens: 0 };

/** The sum of two usages; a bucket that neither has stays absent. */
export function addUsage(left: TokenUsage, right: TokenUsage): TokenUsage {
  const sum: TokenUsage = {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
  };
  for (const bucket of ["thinkingTokens", "cacheReadTokens", "cacheWriteTokens"] as const) {
    if (left[bucket] === undefined && right[bucket] === undefined) continue;
    sum[bucket] = (left[bucket] ?? 0) + (right[bucket] ?? 0);
  }
  return sum;
}

/** All tokens of all buckets. */
export function totalTokens(usage: TokenUsage): number {
  const cached = (usage.cacheReadTokens ?? 0) + (usage.cacheWriteTokens ?? 0);
  return usage.inputTokens + usage.outputTokens + (usage.thinkingTokens ?? 0) + cached;
}

/** Money, in the currency it is billed in. `estimated`: a part of it is by the price list, and not as reported. */
export const Cost = looseObject(() => ({
  amount: z.number(),
  currency: z.string(),
  estimated: z.optional(z.boolean()),
}));
export type Cost = z.output<typeof Cost>;

/** The sum of two costs. Different currencies cannot be added: then it is the newer cost alone. */
export function addCost(left: Cost | undefined, right: Cost): Cost {
  if (left === undefined || left.currency !== right.currency) return right;
  const estimated = left.estimated === true ? { estimated: true } : {};
  return { ...right, ...estimated, amount: left.amount + right.amount };
}
