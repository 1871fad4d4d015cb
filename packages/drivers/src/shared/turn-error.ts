import type { TurnErrorInfo } from "@flint/protocol";

/** What kind of failure the HTTP status of a model's provider stands for. */
export function errorInfoOfStatus(status: number | undefined): TurnErrorInfo {
  if (status === undefined || status < 400) return "Other";
  if (status === 401 || status === 403) return "Unauthorized";
  if (status === 429) return "UsageLimitExceeded";
  return status >= 500 ? "InternalServerError" : "BadRequest";
}
