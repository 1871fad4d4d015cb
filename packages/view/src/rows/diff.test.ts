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

test("an empty file has no changed lines, and says that it is empty", () => {
  const { lines, added, removed } = block("--- /dev/null\n+++ b/a.txt\n");
  expect({ lines, added, removed }).toEqual({
    ...{ lines: [{ kind: "note", text: "\\ The file is empty" }], added: 0, removed: 0 },
  });
  expect(block("--- a/old\n+++ b/new\n").lines).toEqual([]);
  expect(block("--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n")).toMatchObject({ added: 1, removed: 1 });
});

test("reads a diff of several files", () => {
  const diff =
    'diff --git a/x b/y\nsimilarity index 90%\n@@ -1 +1 @@\n-a\n+b\ndiff --git "a/\\303\\244" "b/\\303\\244"\nnew file mode 100644\n';
  expect(diffBlocks(diff).map(({ path, movePath, change }) => [path, movePath, change])).toEqual([
    ["x", "y", "modify"],
    ["\\303\\244", undefined, "add"],
  ]);
});
