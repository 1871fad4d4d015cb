import { applyPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { exactDiff } from "./exact-diff.ts";

const text = fc
  .array(fc.constantFrom("one", "two", "", "\\ odd", "\n"), { maxLength: 12 })
  .map((lines) => lines.join("\n"));

test.each([200, -1])(
  "a difference leads from the one text to the other, found within %i ms or not",
  async (searchMs) => {
    await fc.assert(
      fc.asyncProperty(text, text, async (before, after) => {
        fc.pre(before !== after);
        expect(applyPatch(before, await exactDiff("a.txt", before, after, searchMs))).toBe(after);
      }),
      { numRuns: 50 },
    );
  },
);

test("nothing changed is no difference, and a new file comes from nowhere", async () => {
  expect(await exactDiff("a.txt", "one", "one")).toBe("");
  expect(await exactDiff("a.txt", undefined, "one")).toBe(
    "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,1 @@\n+one\n\\ No newline at end of file\n",
  );
});
