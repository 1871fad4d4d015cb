import type { StopReason } from "@agentclientprotocol/sdk";
import { FlintError, type Turn, type TurnError } from "@flint/protocol";
import { AcpError } from "../vocabulary.ts";

/** Limits that end a turn without an error: the client gets a stop reason. */
const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  ContextWindowExceeded: "max_tokens",
  OutputLimitReached: "max_tokens",
  BudgetExceeded: "max_turn_requests",
  TurnLimitReached: "max_turn_requests",
  Refused: "refusal",
};

/** Why a turn stopped; an error if it failed. */
export function stopReasonOf({ status, error }: Turn): StopReason | FlintError {
  switch (status) {
    case "completed":
    case "inProgress":
      return "end_turn";
    case "interrupted":
      return "cancelled";
    case "failed":
      return STOP_REASONS[error?.errorInfo ?? ""] ?? failureOf(error);
  }
}

/** Whether a turn stopped only because it reached the agent's limit of steps, so that it can continue. */
export function isOutOfSteps({ status, error }: Turn): boolean {
  return status === "failed" && error?.errorInfo === "TurnLimitReached";
}

function failureOf(error: TurnError | undefined): FlintError {
  const { message = "The turn failed.", errorInfo, httpStatusCode, additionalDetails } = error ?? {};
  const data = { errorInfo, httpStatusCode, additionalDetails };
  return errorInfo === "Unauthorized"
    ? new AcpError("authRequired", message, data)
    : new FlintError("agentFailed", message, data);
}
