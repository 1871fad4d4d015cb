import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { needs, temporaryFolder } from "@flint/testkit";
import { applyPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { loadUnifiedDiff, unifiedDiff } from "./unified-diff.ts";

const diff = (before: string | undefined, after: string | undefined, newPath = "a") =>
  unifiedDiff({ path: "a", newPath, before, after });

test("shows removed and added lines with three lines of context", async () => {
  const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  expect(await diff(before, before.replace("5", "five"))).toBe(
    "--- a/a\n+++ b/a\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
  );
});

test("puts distant changes in separate hunks", async () => {
  const before = Array.from({ length: 100 }, (_, index) => `${index}\n`).join("");
  const shown = await diff(before, before.replace("0\n", "zero\n").replace("99\n", "last\n"));
  expect(shown.match(/^@@/gm)).toHaveLength(2);
  expect(shown).not.toContain("50");
});

test("shows new, emptied and deleted files and missing line endings like git", async () => {
  expect(await diff(undefined, "x\n")).toBe("--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+x\n");
  expect(await diff("x\n", "")).toBe("--- a/a\n+++ b/a\n@@ -1,1 +0,0 @@\n-x\n");
  expect(await diff("x\n", undefined)).toBe("--- a/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n");
  expect(await diff("x", "x\n")).toBe(
    "--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+x\n",
  );
  expect(await diff("same", "same")).toBe("");
});

test("shows a rename with git's header", async () => {
  expect(await diff("x\n", "x\n", "b")).toBe("diff --git a/a b/b\nrename from a\nrename to b\n");
  expect(await diff("x\n", "y\n", "b")).toBe(
    "diff --git a/a b/b\nrename from a\nrename to b\n--- a/a\n+++ b/b\n@@ -1,1 +1,1 @@\n-x\n+y\n",
  );
});

for (const [kind, searchMs] of [
  ["shortest", undefined],
  ["single-hunk", -1],
] as const) {
  needs("git")(`git applies any ${kind} diff and gets the same file`, async () => {
    const folder = await temporaryFolder();
    const lines = fc.array(fc.constantFrom("a\n", "b\n", "\n", " c\n", "-d\n", "e\r\n", "end"), {
      maxLength: 12,
    });
    const property = fc.asyncProperty(lines, lines, async (left, right) => {
      const [before, after] = [left.join(""), right.join("")];
      fc.pre(before !== after && before !== "" && after !== "");
      writeFileSync(folder.join("file"), before);
      execFileSync("git", ["apply", "--whitespace=nowarn", "-"], {
        cwd: folder.path,
        input: await unifiedDiff({ path: "file", before, after }, searchMs),
        stdio: ["pipe", "pipe", "pipe"],
      });
      expect(readFileSync(folder.join("file"), "utf8")).toBe(after);
    });
    await fc.assert(property, { numRuns: 40, seed: 1 });
  });
}

const text = fc
  .array(fc.constantFrom("one", "two", "", "\\ odd", "\n"), { maxLength: 12 })
  .map((lines) => lines.join("\n"));

test.each([200, -1])("applying a diff gives the new text, with a search of %i ms", async (searchMs) => {
  const diffOf = await loadUnifiedDiff(searchMs);
  fc.assert(
    fc.property(text, text, (before, after) => {
      fc.pre(before !== after);
      expect(applyPatch(before, diffOf({ path: "a.txt", before, after }))).toBe(after);
    }),
    { numRuns: 50 },
  );
});
