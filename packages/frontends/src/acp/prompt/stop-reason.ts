import type { StopReason } from "@agentclientprotocol/sdk";
import { FlintError, type Turn, type TurnError } from "@flint/protocol";
import { AcpRefusal } from "../errors.ts";

/** Limits that end a turn without anything being wrong: the client is told by a stop reason, not by an error. */
const STOPS: Readonly<Record<string, StopReason>> = {
  ContextWindowExceeded: "max_tokens",
  BudgetExceeded: "max_turn_requests",
  TurnLimitReached: "max_turn_requests",
  Refused: "refusal",
};

/** Why a turn stopped; an error if it failed. */
export function stopOf({ status, error }: Turn): StopReason | FlintError {
  switch (status) {
    case "completed":
    case "inProgress":
      return "end_turn";
    case "interrupted":
      return "cancelled";
    case "failed":
      return STOPS[error?.errorInfo ?? ""] ?? failureOf(error);
  }
}

/** Whether a turn stopped only because it took too many steps, so that it can go on. */
export function isOutOfSteps({ status, error }: Turn): boolean {
  return status === "failed" && error?.errorInfo === "TurnLimitReached";
}

function failureOf(error: TurnError | undefined): FlintError {
  const { message = "The turn failed.", errorInfo, httpStatusCode, additionalDetails } = error ?? {};
  const data = { errorInfo, httpStatusCode, additionalDetails };
  return errorInfo === "Unauthorized"
    ? new AcpRefusal("authRequired", message, data)
    : new FlintError("agentFailed", message, data);
}
