import type { TurnOutcome } from "@flint/core/ports";
import type { TurnError, TurnErrorInfo } from "@flint/protocol";
import type { ClaudeFrameOf } from "@flint/protocol/claude";
import { errorInfoOfStatus } from "../../shared/turn-error.ts";
import { CLAUDE } from "../descriptor.ts";

type ResultFrame = ClaudeFrameOf<"result">;

/** What a user has to do whom Claude does not know. */
export const LOG_IN = `Claude is not logged in. Run: ${CLAUDE.login.hint}.`;

/** Claude's names for failures of the model. */
const ERROR_INFO: ReadonlyMap<string, TurnErrorInfo> = new Map([
  ["authentication_failed", "Unauthorized"],
  ["oauth_org_not_allowed", "Unauthorized"],
  ["billing_error", "UsageLimitExceeded"],
  ["rate_limit", "UsageLimitExceeded"],
  ["invalid_request", "BadRequest"],
  ["server_error", "InternalServerError"],
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
]);

const SCHEMA_NOT_MET: TurnOutcome = {
  status: "failed",
  error: {
    message:
      "Claude gave no answer that matches the outputSchema, even after it was asked again. Describe in the prompt what each field is for, or send a simpler schema.",
    errorInfo: "Other",
  },
};

/** What is known about a turn before its result. */
export interface TurnSoFar {
  /** Claude's name for the failure that its last message reported. */
  readonly error: string | undefined;
  /** Whether the answer has to match a schema. */
  readonly isStructured?: boolean;
}

/** How a turn ended, judged by the fields of its result and not by its subtype alone. */
export function outcomeOf(frame: ResultFrame, turn: TurnSoFar): TurnOutcome {
  const reason = frame.terminal_reason ?? "";
  if (reason.startsWith("aborted_")) return { status: "interrupted" };
  if (frame.subtype === "error_max_structured_output_retries") return SCHEMA_NOT_MET;
  const isFailed = frame.is_error || frame.subtype.startsWith("error_");
  if (isFailed) return { status: "failed", error: errorOf(frame, turn.error) };
  const lacksAnswer = turn.isStructured === true && frame.structured_output === undefined;
  return lacksAnswer ? SCHEMA_NOT_MET : { status: "completed" };
}

function errorOf(frame: ResultFrame, reported = ""): TurnError {
  const status = frame.api_error_status ?? undefined;
  const limit = LIMITS_REACHED.get(frame.subtype);
  const errorInfo = limit?.errorInfo ?? ERROR_INFO.get(reported) ?? errorInfoOfStatus(status);
  const details = frame.result || frame.errors?.join("\n") || `Claude ended with ${frame.subtype}.`;
  const message =
    limit?.message ?? (errorInfo === "Unauthorized" ? `${LOG_IN} It said: ${details}` : details);
  return {
    message,
    errorInfo,
    ...(status === undefined ? {} : { httpStatusCode: status }),
    ...(message === details ? {} : { additionalDetails: details }),
  };
}
