import { expect, test } from "vitest";
import { hunksOf } from "./patch-hunks.ts";

test("returns the old and new text of each hunk", () => {
  const diff = "--- a/x\n+++ b/x\n@@ -1,3 +1,2 @@\n one\n-two\n three\n@@ -9 +8,2 @@\n nine\n+ten\n";
  expect(hunksOf(diff)).toEqual([
    { line: 1, oldText: "one\ntwo\nthree\n", newText: "one\nthree\n" },
    { line: 8, oldText: "nine\n", newText: "nine\nten\n" },
  ]);
});

test("applies a missing newline at the end to the side before it", () => {
  const diff = "@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new\n";
  expect(hunksOf(diff)).toEqual([{ line: 1, oldText: "old", newText: "new\n" }]);
});

test("treats lines that look like file headers as content inside a hunk", () => {
  expect(hunksOf("@@ -1 +1 @@\n--- a\n+++ b\n")).toEqual([{ line: 1, oldText: "-- a\n", newText: "++ b\n" }]);
});

test("returns no hunks for text that is not a diff", () => {
  expect(hunksOf("just text\n-no\n")).toEqual([]);
  expect(hunksOf("")).toEqual([]);
});
