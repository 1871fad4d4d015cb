import type { TurnOutcome } from "@flint/core/ports";
import type { TurnError, TurnErrorInfo } from "@flint/protocol";
import type { CodexTurn, CodexTurnError } from "@flint/protocol/codex";
import { errorInfoOfStatus } from "../../shared/translate.ts";

const ERROR_INFO: Readonly<Record<string, TurnErrorInfo>> = {
  contextWindowExceeded: "ContextWindowExceeded",
  usageLimitExceeded: "UsageLimitExceeded",
  rateLimitExceeded: "UsageLimitExceeded",
  sessionBudgetExceeded: "BudgetExceeded",
  serverOverloaded: "InternalServerError",
  internalServerError: "InternalServerError",
  unauthorized: "Unauthorized",
  badRequest: "BadRequest",
  modelNotFound: "BadRequest",
  sandboxError: "SandboxError",
  cyberPolicy: "Refused",
  misalignmentPolicyViolation: "Refused",
};

/** The outcome of a turn. `failure` is the error that was reported before its end. */
export function outcomeOf({ status, error }: CodexTurn, failure: TurnError | undefined): TurnOutcome {
  if (status === "completed" || status === "interrupted") return { status };
  const reported = error === undefined || error === null ? failure : turnError(error);
  const unknown: TurnError = { message: `Codex ended the turn as ${status}.`, errorInfo: "Other" };
  return { status: "failed", error: reported ?? unknown };
}

/** An error of Codex as the error of a turn. */
export function turnError(error: CodexTurnError): TurnError {
  const { name, status } = codeOf(error.codexErrorInfo);
  const { additionalDetails } = error;
  return {
    message: readable(error.message),
    errorInfo: ERROR_INFO[name] ?? errorInfoOfStatus(status),
    ...(status === undefined ? {} : { httpStatusCode: status }),
    ...(typeof additionalDetails === "string" ? { additionalDetails } : {}),
  };
}

/** A name alone, or an object with one field that may have the status of a response. */
function codeOf(info: unknown): { readonly name: string; readonly status?: number | undefined } {
  if (typeof info === "string") return { name: info };
  const [entry] = Object.entries(Object(info));
  if (entry === undefined) return { name: "" };
  const status: unknown = Reflect.get(Object(entry[1]), "httpStatusCode");
  return { name: entry[0], status: typeof status === "number" ? status : undefined };
}

/** Codex passes the body of an error response on as it is; only its message is readable. */
function readable(message: string): string {
  if (!message.startsWith("{")) return message;
  try {
    const parsed: unknown = JSON.parse(message);
    const inner: unknown = Reflect.get(Object(Reflect.get(Object(parsed), "error")), "message");
    return typeof inner === "string" && inner !== "" ? inner : message;
  } catch {
    // Expected: text that only looks like JSON.
    return message;
  }
}
