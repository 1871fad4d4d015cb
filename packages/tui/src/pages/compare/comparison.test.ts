import { expect, test } from "vitest";
import { changesIn } from "./comparison.ts";

test("the size of a diff is its files and lines, without its headers", () => {
  const diff = [
    "diff --git a/a.txt b/a.txt",
    "--- a/a.txt",
    "+++ b/a.txt",
    "@@ -1,2 +1,2 @@",
    "-one",
    "+uno",
    "+due",
    " three",
  ].join("\n");
  expect(changesIn(diff)).toBe("1 file, +2 -1");
  expect(changesIn("")).toBe("none");
});
