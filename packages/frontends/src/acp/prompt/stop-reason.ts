import type { StopReason } from "@agentclientprotocol/sdk";
import { FlintError, isRecord, type Turn, type TurnError } from "@flint/protocol";
import type { CoreCalls } from "../../shared/core-calls.ts";
import { AcpError } from "../vocabulary.ts";

/** Limits that end a turn without an error: the client gets a stop reason. */
const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  ContextWindowExceeded: "max_tokens",
  OutputLimitReached: "max_tokens",
  BudgetExceeded: "max_turn_requests",
  TurnLimitReached: "max_turn_requests",
  Refused: "refusal",
};

/** Returns the reason a turn stopped; an error if it failed. */
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

/**
 * Reports whether a turn stopped only because it reached the agent's limit of steps, so that it can continue.
 */
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

/** Time within which Dots must list its tasks. */
const TIMEOUT_MS = 5_000;

const COMMAND = ["dot", "ls", "--json"];

const CLOSED: ReadonlySet<unknown> = new Set(["closed", "done", "completed", "cancelled"]);

/**
 * Returns the number of tasks of a workspace that Dots reports as open. 0 if it is not installed, or the
 * program of that name is another one, such as that of Graphviz. It runs in a sandbox in which it can change
 * nothing.
 */
export async function countOpenDotsTasks(core: CoreCalls, cwd: string): Promise<number> {
  const sandboxPolicy = { type: "readOnly" } as const;
  const listing = { command: COMMAND, cwd, sandboxPolicy, timeoutMs: TIMEOUT_MS };
  // Expected: no such program, no sandbox, or output that is not JSON.
  try {
    const { exitCode, stdout } = await core.call("command/exec", listing);
    const tasks: unknown = exitCode === 0 ? JSON.parse(stdout) : [];
    return Array.isArray(tasks) ? tasks.filter(isOpen).length : 0;
  } catch {
    return 0;
  }
}

function isOpen(task: unknown): boolean {
  return isRecord(task) && !CLOSED.has(task.status);
}
