import type { DriverEvent } from "@flint/core/ports";
import { addUsage, type TokenUsage } from "@flint/protocol";
import type { ClaudeFrameOf, ClaudeUsage } from "@flint/protocol/claude";
import type { ProcessMemory, Step, TranslateState } from "./state.ts";

type ResultFrame = ClaudeFrameOf<"result">;

/**
 * The end of one call of the model. The usage of the last call is deferred until the turn ends, which is right after it:
 * only then the cost of the turn is known, and the last usage event should be about a call.
 */
export function callEnded(state: TranslateState, usage: ClaudeUsage, isLast: boolean): Step {
  const last: TokenUsage = {
    inputTokens: usage.input_tokens ?? 0,
    outputTokens: usage.output_tokens ?? 0,
    cacheReadTokens: usage.cache_read_input_tokens ?? 0,
    cacheWriteTokens: usage.cache_creation_input_tokens ?? 0,
  };
  const [next, before] = emitDeferredUsage(state);
  const reported = addUsage(state.reported, last);
  if (isLast) return [{ ...next, reported, deferred: last }, before];
  return [{ ...next, reported }, [...before, { type: "usage", last, ...windowOf(state.memory) }]];
}

/** Emits the deferred usage of a turn that does not reach its end. */
export function emitDeferredUsage(state: TranslateState): Step {
  const { deferred: last, memory } = state;
  if (last === undefined) return [state, []];
  return [{ ...state, deferred: undefined }, [{ type: "usage", last, ...windowOf(memory) }]];
}

/**
 * The end of a turn, which gives the totals of the process. What is new in them since the last turn, less what was
 * emitted call by call, belongs to calls that are not shown, such as those of sub-agents; the cost is that of all calls.
 */
export function turnUsage(state: TranslateState, frame: ResultFrame): Step {
  // An interrupted turn may end without any totals; those of earlier turns still hold.
  const used = larger(state.memory.used, totalOf(frame.modelUsage ?? {}));
  const costUsd = Math.max(frame.total_cost_usd ?? 0, state.memory.costUsd);
  const contextWindow = windowIn(frame) ?? state.memory.contextWindow;
  const memory = { ...state.memory, used, costUsd, contextWindow };
  const hidden = less(less(used, state.memory.used), state.reported);
  const amount = costUsd - state.memory.costUsd;
  const cost = amount === 0 ? {} : { cost: { amount, currency: "USD" } };
  const parts = [hidden, state.deferred].filter((part) => part !== undefined && !isZero(part));
  if (parts.length === 0 && amount !== 0) parts.push(hidden);
  const events = parts.map((last = hidden, index): DriverEvent => {
    const isFinal = index === parts.length - 1;
    return { type: "usage", last, ...windowOf(memory), ...(isFinal ? cost : {}) };
  });
  return [{ ...state, memory, deferred: undefined }, events];
}

function windowOf({ contextWindow }: ProcessMemory): { modelContextWindow?: number } {
  return contextWindow === undefined ? {} : { modelContextWindow: contextWindow };
}

/** The context window of the model that did most of the work. */
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

function less(usage: TokenUsage, part: TokenUsage): TokenUsage {
  return combined(usage, part, (left, right) => Math.max(0, left - right));
}

function larger(left: TokenUsage, right: TokenUsage): TokenUsage {
  return combined(left, right, Math.max);
}

function combined(
  left: TokenUsage,
  right: TokenUsage,
  combine: (left: number, right: number) => number,
): TokenUsage {
  const { cacheReadTokens: leftRead = 0, cacheWriteTokens: leftWrite = 0 } = left;
  const { cacheReadTokens: rightRead = 0, cacheWriteTokens: rightWrite = 0 } = right;
  return {
    inputTokens: combine(left.inputTokens, right.inputTokens),
    outputTokens: combine(left.outputTokens, right.outputTokens),
    cacheReadTokens: combine(leftRead, rightRead),
    cacheWriteTokens: combine(leftWrite, rightWrite),
  };
}

function isZero({
  inputTokens,
  outputTokens,
  cacheReadTokens = 0,
  cacheWriteTokens = 0,
}: TokenUsage): boolean {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens === 0;
}
