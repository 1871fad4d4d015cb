import { FlintError } from "@flint/protocol";
import { expect, test } from "vitest";
import { errorCodeOf, exitCodeOf } from "./exit-codes.ts";

test.each([
  [{ status: "completed", declinedUnattended: false }, 0],
  [{ status: "failed", declinedUnattended: true }, 1],
  [{ status: "interrupted", declinedUnattended: false }, 6],
  [{ status: "failed", errorInfo: "BudgetExceeded", declinedUnattended: true }, 5],
  [{ status: "failed", errorInfo: "SchemaMismatch", declinedUnattended: false }, 4],
  [{ status: "failed", errorInfo: "AgentFailed", declinedUnattended: false }, 1],
  [{ status: "failed", errorInfo: "ServerStopped", declinedUnattended: false }, 6],
  [{ status: "completed", wentOverLimit: true, declinedUnattended: true }, 5],
  [{ status: "completed", declinedUnattended: true }, 3],
  [{ status: "completed", declinedUnattended: true, matchesSchema: false }, 4],
  [{ status: "interrupted", cause: "SIGINT", declinedUnattended: false }, 130],
  [{ status: "interrupted", cause: "SIGTERM", declinedUnattended: false }, 143],
  [{ status: "interrupted", cause: "SIGPIPE", declinedUnattended: false }, 141],
  [{ status: "interrupted", cause: "SIGHUP", declinedUnattended: false }, 143],
  [{ status: "completed", cause: "SIGINT", declinedUnattended: false }, 0],
  [{ status: "completed", cause: "outputFailed", declinedUnattended: false }, 1],
] as const)("%j exits with %i", (outcome, code) => {
  expect(exitCodeOf(outcome)).toBe(code);
});

test("a turn that cannot start because of a limit exits as one that was stopped by it", () => {
  expect(errorCodeOf(new FlintError("budgetExceeded", "The limit is reached."))).toBe(5);
  expect(errorCodeOf(new FlintError("agentFailed", "It failed."))).toBe(1);
});
