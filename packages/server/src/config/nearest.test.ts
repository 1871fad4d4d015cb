import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

test.each([
  ["modle", "model"],
  ["aproval_policy", "approval_policy"],
  ["SANDBOX", "sandbox"],
  ["sandbxo", "sandbox"],
])("%s was likely meant to be %s", (given, meant) => {
  expect(nearest(given, ["model", "approval_policy", "sandbox"])).toBe(meant);
});

test("nothing is suggested for a name that is like none", () => {
  expect(nearest("telemetry", ["model", "approval_policy", "sandbox"])).toBeUndefined();
  expect(nearest("x", [])).toBeUndefined();
});
