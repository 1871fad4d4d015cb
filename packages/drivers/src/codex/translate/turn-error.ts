import type { TurnError, TurnErrorInfo } from "@flint/protocol";
import type { CodexTurnError } from "@flint/protocol/codex";

const INFO: Readonly<Record<string, TurnErrorInfo>> = {
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
};

/** Why a turn failed, in Flint's words. */
export function turnError(error: CodexTurnError): TurnError {
  const { name, status } = infoOf(error.codexErrorInfo);
  const { additionalDetails } = error;
  return {
    message: readable(error.message),
    errorInfo: INFO[name] ?? infoOfStatus(status),
    ...(status === undefined ? {} : { httpStatusCode: status }),
    ...(typeof additionalDetails === "string" ? { additionalDetails } : {}),
  };
}

/** A name alone, or an object with one name that may hold the status of an answer. */
function infoOf(info: unknown): { readonly name: string; readonly status?: number | undefined } {
  if (typeof info === "string") return { name: info };
  const [entry] = Object.entries(Object(info));
  if (entry === undefined) return { name: "" };
  const status: unknown = Reflect.get(Object(entry[1]), "httpStatusCode");
  return { name: entry[0], status: typeof status === "number" ? status : undefined };
}

function infoOfStatus(status: number | undefined): TurnErrorInfo {
  if (status === undefined) return "Other";
  if (status === 401 || status === 403) return "Unauthorized";
  if (status === 429) return "UsageLimitExceeded";
  if (status >= 500) return "InternalServerError";
  return status >= 400 ? "BadRequest" : "Other";
}

/** Codex passes on the body of a refusal as it is; its message is what a person can read. */
function readable(message: string): string {
  if (!message.startsWith("{")) return message;
  try {
    const parsed: unknown = JSON.parse(message);
    const inner: unknown = Reflect.get(Object(Reflect.get(Object(parsed), "error")), "message");
    return typeof inner === "string" && inner !== "" ? inner : message;
  } catch {
    // It only looked like JSON.
    return message;
  }
}
