import { expect, test } from "vitest";
import { exitCodeOf } from "./exit-codes.ts";

test.each([
  [{ status: "completed", declinedUnattended: false }, 0],
  [{ status: "failed", declinedUnattended: true }, 1],
  [{ status: "interrupted", declinedUnattended: false }, 1],
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
