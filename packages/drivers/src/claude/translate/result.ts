import type { DriverEvent, TurnOutcome } from "@flint/core/ports";
import { addUsage, type TokenUsage, type TurnError, type TurnErrorInfo } from "@flint/protocol";
import type { ClaudeFrameOf, ClaudeUsage } from "@flint/protocol/claude";
import { errorInfoOfStatus } from "../../shared/translate.ts";
import { CLAUDE } from "../descriptor.ts";
import type { ProcessMemory, Step, TranslateState } from "./state.ts";

type ResultFrame = ClaudeFrameOf<"result">;
type AssistantFrame = ClaudeFrameOf<"assistant">;

/** The advice to a user whose Claude has no login. */
export const LOGIN_MESSAGE = `Claude is not logged in. Run: ${CLAUDE.login.hint}.`;

/** Claude's names for failures of the model. */
const ERROR_INFO: ReadonlyMap<string, TurnErrorInfo> = new Map([
  ["authentication_failed", "Unauthorized"],
  ["oauth_org_not_allowed", "Unauthorized"],
  ["billing_error", "UsageLimitExceeded"],
  ["credits_required", "UsageLimitExceeded"],
  ["out_of_credits", "UsageLimitExceeded"],
  ["rate_limit", "UsageLimitExceeded"],
  ["invalid_request", "BadRequest"],
  ["server_error", "InternalServerError"],
  ["max_output_tokens", "OutputLimitReached"],
]);

/** The limits of Claude's own that end a turn, by the subtype of its result. */
const LIMITS_REACHED: ReadonlyMap<string, TurnError> = new Map([
  [
    "error_max_turns",
    {
      message:
        "Claude used up the number of steps that it may take in one turn. Send another prompt to continue.",
      errorInfo: "TurnLimitReached",
    },
  ],
  [
    "error_max_budget_usd",
    {
      message: "Claude used up the amount that it may spend. Raise its limit to continue.",
      errorInfo: "BudgetExceeded",
    },
  ],
  [
    "max_tokens",
    {
      message: "Claude stopped because an answer became too long. Ask it to continue.",
      errorInfo: "OutputLimitReached",
    },
  ],
]);

const SCHEMA_NOT_MET: TurnOutcome = {
  status: "failed",
  error: {
    message:
      "Claude gave no answer that matches the outputSchema, even after it was asked again. Describe in the prompt what each field is for, or send a simpler schema.",
    errorInfo: "SchemaMismatch",
  },
};

/** The facts known about a turn before its result. */
export interface TurnProgress {
  /** Claude's name for the failure that its last message reported. */
  readonly error: string | undefined;
  /** True if the answer has to match a schema. */
  readonly isStructured?: boolean;
}

/** The outcome of a turn, judged by the fields of its result and not by its subtype alone. */
export function outcomeOf(frame: ResultFrame, turn: TurnProgress): TurnOutcome {
  const reason = frame.terminal_reason ?? "";
  if (reason.startsWith("aborted_") || frame.subtype === "cancelled") return { status: "interrupted" };
  if (frame.subtype === "error_max_structured_output_retries") return SCHEMA_NOT_MET;
  const isFailed = frame.is_error || frame.subtype.startsWith("error_") || LIMITS_REACHED.has(frame.subtype);
  if (isFailed) return { status: "failed", error: errorOf(frame, turn.error) };
  const lacksAnswer = turn.isStructured === true && frame.structured_output === undefined;
  return lacksAnswer ? SCHEMA_NOT_MET : { status: "completed" };
}

function errorOf(frame: ResultFrame, reported = ""): TurnError {
  const status = frame.api_error_status ?? undefined;
  const limit = LIMITS_REACHED.get(frame.subtype);
  const refusal = frame.stop_reason === "refusal" ? "Refused" : undefined;
  const errorInfo = limit?.errorInfo ?? refusal ?? ERROR_INFO.get(reported) ?? errorInfoOfStatus(status);
  const details = frame.result || frame.errors?.join("\n") || `Claude ended with ${frame.subtype}.`;
  const message =
    limit?.message ?? (errorInfo === "Unauthorized" ? `${LOGIN_MESSAGE} Its error: ${details}` : details);
  return {
    message,
    errorInfo,
    ...(status === undefined ? {} : { httpStatusCode: status }),
    ...(message === details ? {} : { additionalDetails: details }),
  };
}

/**
 * The end of one call of the model. The usage of the last call is deferred until the turn ends, which is right after it:
 * only then the cost of the turn is known, and the last usage event should be about a call.
 */
export function modelCallCompleted(state: TranslateState, usage: ClaudeUsage, isLast: boolean): Step {
  const last = tokensOf(usage);
  const [next, before] = emitDeferredUsage(state);
  const reported = addUsage(state.reported, last);
  if (isLast) return [{ ...next, reported, deferred: last }, before];
  return [{ ...next, reported }, [...before, { type: "usage", last, ...windowOf(state.memory) }]];
}

/**
 * A call of a sub-agent, which is not streamed. Each frame of its message has the usage with which the call began: the
 * input, and next to nothing of the output, which the end of the turn adds.
 */
export function subAgentCall(state: TranslateState, { message }: AssistantFrame, parentItemId: string): Step {
  const { id, usage } = message;
  if (id === undefined || usage == null || state.counted.has(id)) return [state, []];
  const last = tokensOf(usage);
  const counted = new Set(state.counted).add(id);
  const next = { ...state, counted, reported: addUsage(state.reported, last) };
  return [next, [{ type: "usage", last, parentItemId }]];
}

/** Emits the deferred usage of a turn that does not reach its end. */
export function emitDeferredUsage(state: TranslateState): Step {
  const { deferred: last, memory } = state;
  if (last === undefined) return [state, []];
  return [{ ...state, deferred: undefined }, [{ type: "usage", last, ...windowOf(memory) }]];
}

/**
 * The end of a turn, which gives the totals of the process. What is new in them since the last turn, less what was
 * emitted call by call, belongs to the output of sub-agents and to calls that are not shown; the cost is that of all calls.
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
    const ofKnownCalls =
      last === hidden && state.counted.size > 0 && inputOf(hidden) === 0 ? { calls: 0 } : {};
    return { type: "usage", last, ...ofKnownCalls, ...windowOf(memory), ...(isFinal ? cost : {}) };
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

function tokensOf(usage: ClaudeUsage): TokenUsage {
  return {
    inputTokens: usage.input_tokens ?? 0,
    outputTokens: usage.output_tokens ?? 0,
    cacheReadTokens: usage.cache_read_input_tokens ?? 0,
    cacheWriteTokens: usage.cache_creation_input_tokens ?? 0,
  };
}

function inputOf({ inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }: TokenUsage): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
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
