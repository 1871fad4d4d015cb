import { writeFile } from "node:fs/promises";
import { loadUnifiedDiff } from "@flint/host/files";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { completingDiffs } from "./tool-item.ts";

const DIFF = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";

async function diffAgainst(text: string, before: string, after: string): Promise<string> {
  const { path, join } = await temporaryFolder();
  await writeFile(join("a.txt"), text);
  return completingDiffs(await loadUnifiedDiff(), path)({ path: "a.txt", before, after });
}

test("a part of a file that is about to change is shown in its place", async () => {
  expect(await diffAgainst("one\ntwo\nthree\n", "two", "2")).toBe(DIFF);
});

test("a part that has changed already is shown as the same change", async () => {
  expect(await diffAgainst("one\n2\nthree\n", "two", "2")).toBe(DIFF);
});

test("a whole file, and a part that is not there exactly once, is shown as it is told", async () => {
  expect(await diffAgainst("one\ntwo\nthree\n", "one\ntwo\nthree\n", "one\n2\nthree\n")).toBe(DIFF);
  const told = "--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-two\n+2\n";
  expect(await diffAgainst("two\ntwo\n", "two\n", "2\n")).toBe(told);
  expect(await diffAgainst("nothing of it\n", "two\n", "2\n")).toBe(told);
});
