import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

test.each([
  ["modle", "model"],
  ["aproval_policy", "approval_policy"],
  ["SANDBOX", "sandbox"],
  ["sandbxo", "sandbox"],
])("%s is corrected to %s", (given, meant) => {
  expect(nearest(given, ["model", "approval_policy", "sandbox"])).toBe(meant);
});

test("no correction is suggested for an unrelated name", () => {
  expect(nearest("telemetry", ["model", "approval_policy", "sandbox"])).toBeUndefined();
  expect(nearest("x", [])).toBeUndefined();
});
