import type { DriverEvent } from "@flint/core/ports";
import { addUsage, type TokenUsage } from "@flint/protocol";
import type { ClaudeFrameOf, ClaudeUsage } from "@flint/protocol/claude";
import type { Memory, Step, TranslateState } from "./state.ts";

type ResultFrame = ClaudeFrameOf<"result">;

/**
 * One call of the model is over. That of the last one is held back until the turn ends, which is at once: only then it
 * is known what it all cost, and the last thing that is told should be about a call.
 */
export function callEnded(state: TranslateState, usage: ClaudeUsage, isLast: boolean): Step {
  const last: TokenUsage = {
    inputTokens: usage.input_tokens ?? 0,
    outputTokens: usage.output_tokens ?? 0,
    cacheReadTokens: usage.cache_read_input_tokens ?? 0,
    cacheWriteTokens: usage.cache_creation_input_tokens ?? 0,
  };
  const [next, before] = tellHeldUsage(state);
  const told = addUsage(state.told, last);
  if (isLast) return [{ ...next, told, held: last }, before];
  return [{ ...next, told }, [...before, { type: "usage", last, ...windowOf(state.memory) }]];
}

/** What was held back, if the end of the turn does not come. */
export function tellHeldUsage(state: TranslateState): Step {
  const { held: last, memory } = state;
  if (last === undefined) return [state, []];
  return [{ ...state, held: undefined }, [{ type: "usage", last, ...windowOf(memory) }]];
}

/**
 * The end of a turn says what the process used and cost since it was started. What is new since the last end, less
 * what was told call by call, are the calls that were not shown, such as those of sub-agents; the cost is of all.
 */
export function turnUsage(state: TranslateState, frame: ResultFrame): Step {
  // A turn that was interrupted may end with no numbers at all; what was used before it stays used.
  const used = larger(state.memory.used, totalOf(frame.modelUsage ?? {}));
  const costUsd = Math.max(frame.total_cost_usd ?? 0, state.memory.costUsd);
  const contextWindow = windowIn(frame) ?? state.memory.contextWindow;
  const memory = { ...state.memory, used, costUsd, contextWindow };
  const hidden = less(less(used, state.memory.used), state.told);
  const amount = costUsd - state.memory.costUsd;
  const cost = amount === 0 ? {} : { cost: { amount, currency: "USD" } };
  const parts = [hidden, state.held].filter((part) => part !== undefined && !isNothing(part));
  if (parts.length === 0 && amount !== 0) parts.push(hidden);
  const events = parts.map((last = hidden, index): DriverEvent => {
    const isFinal = index === parts.length - 1;
    return { type: "usage", last, ...windowOf(memory), ...(isFinal ? cost : {}) };
  });
  return [{ ...state, memory, held: undefined }, events];
}

function windowOf({ contextWindow }: Memory): { modelContextWindow?: number } {
  return contextWindow === undefined ? {} : { modelContextWindow: contextWindow };
}

/** The window of the model that did most of the work. */
function windowIn({ modelUsage = {} }: ResultFrame): number | undefined {
  const models = Object.values(modelUsage).filter(({ contextWindow = 0 }) => contextWindow > 0);
  return models.sort((left, right) => (right.inputTokens ?? 0) - (left.inputTokens ?? 0))[0]?.contextWindow;
}

function totalOf(modelUsage: NonNullable<ResultFrame["modelUsage"]>): TokenUsage {
  const sum = (field: "inputTokens" | "outputTokens" | "cacheReadInputTokens" | "cacheCreationInputTokens") =>
    Object.values(modelUsage).reduce((total, usage) => total + (usage[field] ?? 0), 0);
  return {
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    cacheReadTokens: sum("cacheReadInputTokens"),
    cacheWriteTokens: sum("cacheCreationInputTokens"),
  };
}

function less(usage: TokenUsage, known: TokenUsage): TokenUsage {
  const rest = (all = 0, part = 0) => Math.max(0, all - part);
  return {
    inputTokens: rest(usage.inputTokens, known.inputTokens),
    outputTokens: rest(usage.outputTokens, known.outputTokens),
    cacheReadTokens: rest(usage.cacheReadTokens, known.cacheReadTokens),
    cacheWriteTokens: rest(usage.cacheWriteTokens, known.cacheWriteTokens),
  };
}

function larger(left: TokenUsage, right: TokenUsage): TokenUsage {
  return {
    inputTokens: Math.max(left.inputTokens, right.inputTokens),
    outputTokens: Math.max(left.outputTokens, right.outputTokens),
    cacheReadTokens: Math.max(left.cacheReadTokens ?? 0, right.cacheReadTokens ?? 0),
    cacheWriteTokens: Math.max(left.cacheWriteTokens ?? 0, right.cacheWriteTokens ?? 0),
  };
}

function isNothing({
  inputTokens,
  outputTokens,
  cacheReadTokens = 0,
  cacheWriteTokens = 0,
}: TokenUsage): boolean {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens === 0;
}
