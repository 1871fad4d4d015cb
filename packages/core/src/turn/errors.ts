import { asFlintError, FlintError, type TurnError } from "@flint/protocol";
import type { Ending } from "./decide/closing.ts";

/** Why a turn that was cut off by the end of its server has not completed. */
export const SERVER_STOPPED: TurnError = {
  message: "The server stopped while the turn was running. Nothing of it will be run again.",
  errorInfo: "ServerStopped",
};

/** How a turn ends whose log cannot be written. */
export function failedStorage({ message }: FlintError): Ending {
  return { status: "failed", error: { message, errorInfo: "StorageFailed" }, by: "turnEnded" };
}

/** Why a turn failed whose driver threw this. */
export function turnErrorOf(thrown: unknown): TurnError {
  const error = asFlintError(thrown);
  if (error.kind === "sandboxUnavailable") return { message: error.message, errorInfo: "SandboxError" };
  return { message: agentFailed(thrown).message, errorInfo: "AgentFailed" };
}

/** What an agent threw, in words for the user. */
export function agentFailed(thrown: unknown): FlintError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new FlintError("agentFailed", `The agent failed: ${message}`, {}, { cause: thrown });
}
