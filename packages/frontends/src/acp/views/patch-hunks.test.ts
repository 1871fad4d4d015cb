import { expect, test } from "vitest";
import { hunksOf } from "./patch-hunks.ts";

test("each hunk of a diff is a place with its old and its new text", () => {
  const diff = "--- a/x\n+++ b/x\n@@ -1,3 +1,2 @@\n one\n-two\n three\n@@ -9 +8,2 @@\n nine\n+ten\n";
  expect(hunksOf(diff)).toEqual([
    { line: 1, oldText: "one\ntwo\nthree\n", newText: "one\nthree\n" },
    { line: 8, oldText: "nine\n", newText: "nine\nten\n" },
  ]);
});

test("a missing newline at the end belongs to the side it is said of", () => {
  const diff = "@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new\n";
  expect(hunksOf(diff)).toEqual([{ line: 1, oldText: "old", newText: "new\n" }]);
});

test("lines that look like heads are content inside a hunk", () => {
  expect(hunksOf("@@ -1 +1 @@\n--- a\n+++ b\n")).toEqual([{ line: 1, oldText: "-- a\n", newText: "++ b\n" }]);
});

test("what is no diff has no places", () => {
  expect(hunksOf("just text\n-no\n")).toEqual([]);
  expect(hunksOf("")).toEqual([]);
});
