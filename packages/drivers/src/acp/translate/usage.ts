import type { DriverEvent } from "@flint/core/ports";
import { type Cost, numberOf, stringOf, type TokenUsage } from "@flint/protocol";
import { type JsonObject, objectOf } from "../../shared/json.ts";

/** Fill level of an agent's context, and the cost of its session, as it last reported them. */
export interface ContextUsage {
  readonly used?: number;
  readonly size?: number;
  readonly cost?: Cost;
}

/** The context usage after an update. */
export function contextUsage(known: ContextUsage, update: JsonObject): ContextUsage {
  const used = numberOf(update.used);
  const size = numberOf(update.size);
  const amount = numberOf(objectOf(update.cost).amount);
  const currency = stringOf(objectOf(update.cost).currency);
  return {
    ...known,
    ...(used === undefined ? {} : { used }),
    ...(size === undefined ? {} : { size }),
    ...(amount === undefined || currency === undefined ? {} : { cost: { amount, currency } }),
  };
}

/** The usage of a turn; undefined if the agent does not report it. Costs are those of the whole session, so they are compared. */
export function usageEvent(
  answer: JsonObject,
  before: ContextUsage,
  after: ContextUsage,
  isFresh: boolean,
): DriverEvent | undefined {
  const last =
    tokensOf(answer) ?? (after.used === undefined ? undefined : { inputTokens: after.used, outputTokens: 0 });
  if (last === undefined) return undefined;
  const cost = costOf(before, after, isFresh);
  return {
    ...{ type: "usage", last },
    ...(after.size === undefined ? {} : { modelContextWindow: after.size }),
    ...(cost === undefined ? {} : { cost }),
  };
}

/** Returns the cost of the running turn so far; undefined if the agent does not report it. */
export function costSoFar(
  before: ContextUsage,
  after: ContextUsage,
  isFresh: boolean,
): DriverEvent | undefined {
  const cost = costOf(before, after, isFresh);
  return cost === undefined ? undefined : { type: "costSoFar", cost };
}

/**
 * Returns the cost of the turn. The earlier cost of a resumed session is unknown, so its first figure is only
 * a baseline.
 */
function costOf(before: ContextUsage, after: ContextUsage, isFresh: boolean): Cost | undefined {
  if (after.cost === undefined || (before.cost === undefined && !isFresh)) return undefined;
  const { amount, currency } = after.cost;
  const known = before.cost?.currency === currency ? before.cost.amount : 0;
  return amount > known ? { amount: amount - known, currency } : undefined;
}

function tokensOf(answer: JsonObject): TokenUsage | undefined {
  const usage = objectOf(answer.usage);
  const input = numberOf(usage.inputTokens);
  const output = numberOf(usage.outputTokens);
  if (input !== undefined && output !== undefined) return disjoint(usage, input, output);
  // Gemini 0.61 reports it only beside the protocol.
  const quota = objectOf(objectOf(objectOf(answer._meta).quota).token_count);
  const quotaInput = numberOf(quota.input_tokens);
  if (quotaInput === undefined) return undefined;
  return { inputTokens: quotaInput, outputTokens: numberOf(quota.output_tokens) ?? 0 };
}

/** The total shows whether cached and thought tokens are counted in the others as well. */
function disjoint(usage: JsonObject, input: number, output: number): TokenUsage {
  const cacheRead = numberOf(usage.cachedReadTokens) ?? 0;
  const cacheWrite = numberOf(usage.cachedWriteTokens) ?? 0;
  const thinking = numberOf(usage.thoughtTokens) ?? 0;
  const cached = cacheRead + cacheWrite;
  const total = numberOf(usage.totalTokens) ?? input + output + thinking + cached;
  const twice = input + output + thinking + cached - total;
  const isCachedTwice = cached > 0 && twice >= cached;
  const isThoughtTwice = thinking > 0 && twice - (isCachedTwice ? cached : 0) >= thinking;
  return {
    inputTokens: Math.max(0, input - (isCachedTwice ? cached : 0)),
    outputTokens: Math.max(0, output - (isThoughtTwice ? thinking : 0)),
    ...(thinking > 0 ? { thinkingTokens: thinking } : {}),
    ...(cacheRead > 0 ? { cacheReadTokens: cacheRead } : {}),
    ...(cacheWrite > 0 ? { cacheWriteTokens: cacheWrite } : {}),
  };
}
