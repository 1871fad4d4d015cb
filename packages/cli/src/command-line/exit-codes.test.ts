import { expect, test } from "vitest";
import { exitCodeOf } from "./exit-codes.ts";

test.each([
  [{ status: "completed", unasked: false }, 0],
  [{ status: "failed", unasked: true }, 1],
  [{ status: "interrupted", unasked: false }, 1],
  [{ status: "completed", unasked: true }, 3],
  [{ status: "completed", unasked: true, fitsSchema: false }, 4],
  [{ status: "interrupted", cause: "SIGINT", unasked: false }, 130],
  [{ status: "interrupted", cause: "SIGTERM", unasked: false }, 143],
  [{ status: "interrupted", cause: "SIGPIPE", unasked: false }, 141],
  [{ status: "completed", cause: "SIGINT", unasked: false }, 0],
] as const)("%j exits with %i", (ending, code) => {
  expect(exitCodeOf(ending)).toBe(code);
});
