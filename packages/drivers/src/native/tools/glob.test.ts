import fc from "fast-check";
import { expect, test } from "vitest";
import { Glob } from "./glob.ts";

const CASES: readonly (readonly [pattern: string, fits: readonly string[], others: readonly string[]])[] = [
  ["*.ts", ["a.ts", "deep/er/b.ts", ".ts"], ["a.tsx", "ts", "a.ts/x"]],
  ["src/*.ts", ["src/a.ts"], ["src/deep/a.ts", "x/src/a.ts"]],
  ["/top", ["top"], ["deep/top"]],
  ["src/**/a", ["src/a", "src/x/a", "src/x/y/a"], ["src/ab", "a"]],
  ["**", ["a", "a/b"], []],
  ["a?c", ["abc", "aüc", "a😀c"], ["ac", "abbc", "a/c"]],
  ["[a-c]x", ["ax", "cx"], ["dx", "x"]],
  ["[!a]x", ["bx"], ["ax"]],
  ["x[", ["x["], ["x"]],
  ["\\*", ["*"], ["a"]],
  ["{a,b}.{js,ts}", ["a.js", "b.ts"], ["c.js", "a.py"]],
  ["{a,{b,c}}", ["a", "b", "c"], ["d"]],
  ["a.b", ["a.b"], ["axb"]],
];

test.each(CASES)("%s", (pattern, fits, others) => {
  const glob = Glob.of(pattern);
  expect(fits.filter((path) => !glob.matches(path))).toEqual([]);
  expect(others.filter((path) => glob.matches(path))).toEqual([]);
});

test("a pattern that would take a regular expression for ever takes no time", () => {
  const glob = Glob.of(`${"*a".repeat(200)}b`);
  const startedAt = performance.now();
  expect(glob.matches("a".repeat(4000))).toBe(false);
  expect(performance.now() - startedAt).toBeLessThan(1000);
});

test("braces cannot stand for endless patterns", () => {
  expect(() => Glob.of("{a,b}".repeat(30))).toThrow("at most 64");
  expect(() => Glob.of("x".repeat(600))).toThrow("at most 512");
});

test("every plain path fits itself", () => {
  const name = fc.stringMatching(/^[a-z0-9_.-]{1,8}$/);
  const paths = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
  fc.assert(fc.property(paths, (path) => Glob.of(`/${path}`).matches(path)));
});
