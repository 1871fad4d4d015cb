import { expect, test } from "vitest";
import { previewOf, shortened } from "./short-text.ts";

test("text for lists is one line of at most 160 characters, or of another length", () => {
  expect(previewOf("  Fix\n\tthe   bug ")).toBe("Fix the bug");
  expect(previewOf("x".repeat(160))).toBe("x".repeat(160));
  expect(previewOf("x".repeat(161))).toBe(`${"x".repeat(159)}…`);
  expect(previewOf("a  b c", 4)).toBe("a b…");
});

test("short text ends between characters", () => {
  expect([shortened("abc", 3), shortened("abcd", 3), shortened("a😀b", 3)]).toEqual(["abc", "ab…", "a…"]);
});
