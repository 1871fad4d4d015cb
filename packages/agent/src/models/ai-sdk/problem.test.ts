import { expect, test } from "vitest";
import { mismatchedField, RETRY_POLICY, retryAfter, retryDelay } from "./problem.ts";

const NOW = Date.UTC(2030, 0, 1);

test("reads retry-after in milliseconds, seconds and as a date", () => {
  const asked = (headers: Record<string, string>) => retryAfter(new Headers(headers), NOW);
  expect(asked({ "retry-after-ms": "250", "retry-after": "9" })).toBe(250);
  expect(asked({ "retry-after": "1.5" })).toBe(1500);
  expect(asked({ "retry-after": "Tue, 01 Jan 2030 00:00:10 GMT" })).toBe(10_000);
  expect(asked({ "retry-after": "Mon, 31 Dec 2029 00:00:00 GMT" })).toBe(0);
  expect([asked({}), asked({ "retry-after": "soon" }), asked({ "retry-after": "" })]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("doubles each delay unless the endpoint asks for one", () => {
  expect([2, 3, 4, 5].map((next) => retryDelay(next, undefined, RETRY_POLICY))).toEqual([
    1000, 2000, 4000, 8000,
  ]);
  expect(retryDelay(20, undefined, RETRY_POLICY)).toBe(60_000);
  expect(retryDelay(5, 10, RETRY_POLICY)).toBe(10);
});

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
