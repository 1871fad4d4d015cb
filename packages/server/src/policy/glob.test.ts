import { expect, test } from "vitest";
import { fitsGlob } from "./glob.ts";

test.each([
  ["src/**", ["src/a.ts", "src/a/b/c.ts", "src/.env"], ["src", "srcs/a", "a/src/b"]],
  ["src/*", ["src/a.ts", "src/.env"], ["src/a/b.ts", "src"]],
  ["**/*.md", ["a.md", "docs/a.md", "a/b/c.md"], ["a.mdx", "a.md/b"]],
  ["**", ["a", "a/b"], []],
  ["a/**/z", ["a/z", "a/b/z", "a/b/c/z"], ["a/b", "z", "a/bz"]],
  ["file?.txt", ["file1.txt"], ["file.txt", "file10.txt", "file/.txt"]],
  ["*a*b*", ["ab", "xaxbx", "aab"], ["ba", "a/b"]],
  ["a.b", ["a.b"], ["axb", "A.B"]],
])("%s fits what it says and nothing else", (pattern, fitting, others) => {
  expect(fitting.filter((path) => !fitsGlob(pattern, path))).toEqual([]);
  expect(others.filter((path) => fitsGlob(pattern, path))).toEqual([]);
});

test("a pattern that was made to take long does not", () => {
  expect(fitsGlob("*a".repeat(200), "a".repeat(5_000).concat("b"))).toBe(false);
  expect(fitsGlob(`${"**/".repeat(8)}x`, `${"a/".repeat(12)}y`)).toBe(false);
});
