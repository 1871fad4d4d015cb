import { applyPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { loadFileDiff } from "./file-diff.ts";

const text = fc
  .array(fc.constantFrom("one", "two", "", "\\ odd", "\n"), { maxLength: 12 })
  .map((lines) => lines.join("\n"));

test.each([200, -1])(
  "a difference leads from the one text to the other, found within %i ms or not",
  async (searchMs) => {
    const diff = await loadFileDiff(searchMs);
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after);
        expect(applyPatch(before, diff({ path: "a.txt", before, after }))).toBe(after);
      }),
      { numRuns: 50 },
    );
  },
);

test("nothing changed is no difference; a new file comes from nowhere, and a deleted one goes there", async () => {
  const diff = await loadFileDiff();
  expect(diff({ path: "a.txt", before: "one", after: "one" })).toBe("");
  expect(diff({ path: "a.txt", before: undefined, after: "one" })).toBe(
    "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,1 @@\n+one\n\\ No newline at end of file\n",
  );
  expect(diff({ path: "a.txt", before: "one\n", after: undefined })).toBe(
    "--- a/a.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-one\n",
  );
});
