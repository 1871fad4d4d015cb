import { expect, test } from "vitest";
import { diffBlock, diffBlocks, diffPairs } from "./diff.ts";

const block = (diff: string) => diffBlock({ path: "a", kind: "modify", diff });

test("puts what was removed beside what was added in its place", () => {
  const pairs = diffPairs(block("@@ -1,4 +1,3 @@\n a\n-b\n-c\n+B\n d\n+e\n-f\n"));
  expect(pairs.map(({ left, right }) => [left?.text, right?.text])).toEqual([
    ["@@ -1,4 +1,3 @@", "@@ -1,4 +1,3 @@"],
    [" a", " a"],
    ["-b", "+B"],
    ["-c", undefined],
    [" d", " d"],
    [undefined, "+e"],
    ["-f", undefined],
  ]);
});

test("numbers the lines of each hunk, and none of a diff without hunks", () => {
  const { lines } = block("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n@@ -9,0 +10 @@ f()\n+c\n");
  expect(lines.map(({ oldLine, newLine }) => [oldLine, newLine])).toEqual([
    [undefined, undefined],
    [1, undefined],
    [undefined, 1],
    [undefined, undefined],
    [undefined, undefined],
    [undefined, 10],
  ]);
  expect(block("+z\n").lines).toEqual([{ kind: "added", text: "+z" }]);
  expect(block("").lines).toEqual([]);
});

test("reads a diff of several files", () => {
  const diff =
    'diff --git a/x b/y\nsimilarity index 90%\n@@ -1 +1 @@\n-a\n+b\ndiff --git "a/\\303\\244" "b/\\303\\244"\nnew file mode 100644\n';
  expect(diffBlocks(diff).map(({ path, movePath, change }) => [path, movePath, change])).toEqual([
    ["x", "y", "modify"],
    ["\\303\\244", undefined, "add"],
  ]);
});
