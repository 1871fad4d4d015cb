import { expect, test } from "vitest";
import { isNodeNewEnough } from "./checks.ts";

test.each([
  ["18.20.0", false],
  ["20.18.3", false],
  ["20.19.0", true],
  ["21.7.0", false],
  ["22.12.0", false],
  ["22.13.0", true],
  ["24.0.0", true],
])("Node %s is new enough: %s", (version, enough) => {
  expect(isNodeNewEnough(version)).toBe(enough);
});
