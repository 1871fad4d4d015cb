import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { needs, temporaryFolder } from "@flint/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { unifiedDiff } from "./unified-diff.ts";

test("a change shows what goes and what comes, with three lines around it", () => {
  const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  expect(unifiedDiff("a.txt", before, before.replace("5", "five"))).toBe(
    "--- a/a.txt\n+++ b/a.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
  );
});

test("a new file, an emptied file and a missing line end are shown as git shows them", () => {
  expect(unifiedDiff("a", undefined, "x\n")).toBe("--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+x\n");
  expect(unifiedDiff("a", "x\n", "")).toBe("--- a/a\n+++ b/a\n@@ -1,1 +0,0 @@\n-x\n");
  expect(unifiedDiff("a", "x", "x\n")).toBe(
    "--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+x\n",
  );
  expect(unifiedDiff("a", "same", "same")).toBe("");
});

needs("git")("git applies any of these diffs and gets the same file", async () => {
  const folder = await temporaryFolder();
  const lines = fc.array(fc.constantFrom("a\n", "b\n", "\n", " c\n", "-d\n", "end"), { maxLength: 12 });
  const property = fc.property(lines, lines, (left, right) => {
    const [before, after] = [left.join(""), right.join("")];
    fc.pre(before !== after && before !== "" && after !== "");
    writeFileSync(folder.join("file"), before);
    const options = { cwd: folder.path, input: unifiedDiff("file", before, after) };
    execFileSync("git", ["apply", "--whitespace=nowarn", "-"], {
      ...options,
      stdio: ["pipe", "pipe", "pipe"],
    });
    expect(readFileSync(folder.join("file"), "utf8")).toBe(after);
  });
  fc.assert(property, { numRuns: 60, seed: 1 });
});
