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

test("completes a partial diff before the change", async () => {
  expect(await diffAgainst("one\ntwo\nthree\n", "two", "2")).toBe(DIFF);
});

test("completes a partial diff after the change", async () => {
  expect(await diffAgainst("one\n2\nthree\n", "two", "2")).toBe(DIFF);
});

test("leaves a diff of the whole file, or of lines that do not occur exactly once", async () => {
  expect(await diffAgainst("one\ntwo\nthree\n", "one\ntwo\nthree\n", "one\n2\nthree\n")).toBe(DIFF);
  const unchanged = "--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-two\n+2\n";
  expect(await diffAgainst("two\ntwo\n", "two\n", "2\n")).toBe(unchanged);
  expect(await diffAgainst("nothing of it\n", "two\n", "2\n")).toBe(unchanged);
});
