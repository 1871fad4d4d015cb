import type { TurnOutcome } from "@flint/core/ports";
import type { TurnError, TurnErrorInfo } from "@flint/protocol";
import type { ClaudeFrameOf } from "@flint/protocol/claude";

/** What to do when Claude does not know who the user is. */
export const SIGN_IN =
  "Claude is not signed in. Run `claude auth login`, or set ANTHROPIC_API_KEY, and try again.";

/** Claude's words for failures, and Flint's. */
const INFO: ReadonlyMap<string, TurnErrorInfo> = new Map([
  ["authentication_failed", "Unauthorized"],
  ["oauth_org_not_allowed", "Unauthorized"],
  ["billing_error", "UsageLimitExceeded"],
  ["rate_limit", "UsageLimitExceeded"],
  ["invalid_request", "BadRequest"],
  ["server_error", "InternalServerError"],
]);

/** What Claude said about why it stops, before it says that it does. */
export interface Complaint {
  /** Its word for the kind of failure. */
  readonly error: string | undefined;
  /** Whether the answer had to fit a schema. */
  readonly isStructured?: boolean;
}

const UNFIT: TurnOutcome = {
  status: "failed",
  error: {
    message:
      "Claude gave no answer that fits the outputSchema, though it was asked again. Say in the prompt what each field is for, or send a simpler schema.",
    errorInfo: "Other",
  },
};

/** How a turn ended, judged by what its last frame says and not by what it calls itself. */
export function outcomeOf(frame: ClaudeFrameOf<"result">, complaint: Complaint): TurnOutcome {
  const reason = frame.terminal_reason ?? "";
  if (reason.startsWith("aborted_")) return { status: "interrupted" };
  if (frame.subtype === "error_max_structured_output_retries") return UNFIT;
  const isFailed = frame.is_error || frame.subtype.startsWith("error_");
  if (!isFailed && complaint.isStructured === true && frame.structured_output === undefined) return UNFIT;
  return isFailed ? { status: "failed", error: errorOf(frame, complaint) } : { status: "completed" };
}

function errorOf(frame: ClaudeFrameOf<"result">, { error }: Complaint): TurnError {
  const status = frame.api_error_status ?? undefined;
  const errorInfo = infoOf(frame, status, error);
  const said = frame.result || frame.errors?.join("\n") || `Claude ended with ${frame.subtype}.`;
  const message =
    LIMITS_MET.get(frame.subtype) ?? (errorInfo === "Unauthorized" ? `${SIGN_IN} It said: ${said}` : said);
  return {
    message,
    errorInfo,
    ...(status === undefined ? {} : { httpStatusCode: status }),
    ...(message === said ? {} : { additionalDetails: said }),
  };
}

const LIMITS_MET: ReadonlyMap<string, string> = new Map([
  [
    "error_max_turns",
    "Claude used up the number of steps that it may take in one turn. Send another prompt to go on.",
  ],
  ["error_max_budget_usd", "Claude used up the amount that it may spend. Raise its limit to go on."],
]);

function infoOf(frame: ClaudeFrameOf<"result">, status: number | undefined, error = ""): TurnErrorInfo {
  if (frame.subtype === "error_max_budget_usd") return "BudgetExceeded";
  if (frame.subtype === "error_max_turns") return "TurnLimitReached";
  const said = INFO.get(error);
  if (said !== undefined) return said;
  if (status === undefined) return "Other";
  if (status === 401 || status === 403) return "Unauthorized";
  if (status === 429) return "UsageLimitExceeded";
  return status >= 500 ? "InternalServerError" : "BadRequest";
}
