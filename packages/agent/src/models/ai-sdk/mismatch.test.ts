import { expect, test } from "vitest";
import { mismatchedField } from "./mismatch.ts";

const issue = (path: readonly string[], message: string) => ({ path, message });

test("names the field that did not fit, of the shape that fits best", () => {
  const union = {
    ...issue([], "Invalid input"),
    errors: [
      [issue(["type"], "expected a"), issue(["x"], "no")],
      [issue(["response", "id"], "expected string")],
    ],
  };
  expect(mismatchedField({ name: "AI_TypeValidationError", cause: { issues: [union] } })).toBe(
    "response.id (expected string)",
  );
  expect(mismatchedField({ error: { cause: { issues: [issue(["usage"], "expected number")] } } })).toBe(
    "usage (expected number)",
  );
});

test("names none if none is reported", () => {
  expect(mismatchedField(new Error("no"))).toBeUndefined();
  expect(mismatchedField({ cause: { issues: [issue([], "Invalid input")] } })).toBeUndefined();
});
