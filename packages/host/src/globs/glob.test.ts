import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Glob, NamePattern } from "./glob.ts";

type Case = readonly [pattern: string, matching: readonly string[], others: readonly string[]];

const EVERYWHERE: readonly Case[] = [
  ["src/*.ts", ["src/a.ts", "src/.ts"], ["src/deep/a.ts", "x/src/a.ts"]],
  ["src/**", ["src/a.ts", "src/a/b/c.ts", "src/.env"], ["src", "srcs/a", "a/src/b"]],
  ["src/*", ["src/a.ts", "src/.env"], ["src/a/b.ts", "src"]],
  ["**/*.md", ["a.md", "docs/a.md", "a/b/c.md"], ["a.mdx", "a.md/b"]],
  ["**", ["a", "a/b"], []],
  ["a/**/z", ["a/z", "a/b/z", "a/b/c/z"], ["a/b", "z", "a/bz"]],
  ["a/**/**", ["a/b", "a/b/c"], ["a"]],
  ["**/a/**/b/*", ["a/b/c", "x/a/b/a/y/b/c"], ["a/b", "b/a/c"]],
  ["x/a?c", ["x/abc", "x/aüc", "x/a😀c"], ["x/ac", "x/abbc", "x/a/c"]],
  ["x/*?", ["x/a", "x/😀"], ["x/", "x"]],
  ["x/a.b", ["x/a.b"], ["x/axb", "x/A.B"]],
  ["x/*a*b*", ["x/ab", "x/xaxbx", "x/aab"], ["x/ba", "x/a/b"]],
];

function check(glob: Glob, [, matching, others]: Case): void {
  expect(matching.filter((path) => !glob.matches(path))).toEqual([]);
  expect(others.filter((path) => glob.matches(path))).toEqual([]);
}

describe("Glob.plain", () => {
  test.each<Case>([
    ...EVERYWHERE,
    ["file?.txt", ["file1.txt"], ["file.txt", "file10.txt", "file/.txt"]],
    ["*a*b*", ["ab", "xaxbx", "aab"], ["ba", "a/b"]],
    ["*.ts", ["a.ts"], ["deep/a.ts"]],
    ["app/[id]/*.{js,ts}", ["app/[id]/a.{js,ts}"], ["app/i/a.js", "app/[id]/a.js"]],
    ["a\\*", ["a\\b"], ["a*"]],
    ["a\\", ["a\\"], ["a"]],
    ["", [""], ["a"]],
  ])("%s matches these paths and no others", (...each) => check(Glob.plain(each[0]), each));

  test("matches a hostile pattern in linear time", () => {
    expect(Glob.plain("*a".repeat(200)).matches("a".repeat(5_000).concat("b"))).toBe(false);
    expect(Glob.plain(`${"**/".repeat(8)}x`).matches(`${"a/".repeat(12)}y`)).toBe(false);
  });

  test("matches itself if it contains no wildcards", () => {
    const texts = fc.string({ unit: "binary-ascii" }).filter((text) => !/[*?]/.test(text));
    fc.assert(fc.property(texts, (text) => Glob.plain(text).matches(text)));
  });
});

describe("Glob.search", () => {
  test.each<Case>([
    ...EVERYWHERE,
    ["*.ts", ["a.ts", "deep/er/b.ts", ".ts"], ["a.tsx", "ts", "a.ts/x"]],
    ["./src/a", ["src/a"], ["x/src/a"]],
    ["/top", ["top"], ["deep/top"]],
    ["src/**/a", ["src/a", "src/x/a", "src/x/y/a"], ["src/ab", "a"]],
    ["[a-c]x", ["ax", "cx"], ["dx", "x", "-x"]],
    ["[!a]x", ["bx", "😀x"], ["ax", "x"]],
    ["[a-]x", ["ax", "-x"], ["bx"]],
    ["[]a]x", ["]x", "ax"], ["bx"]],
    ["[\\]-\\_]x", ["]x", "^x", "_x"], ["\\x", "-x"]],
    ["[😀-😂]", ["😁"], ["😃", "\uffee"]],
    ["x[", ["x["], ["x"]],
    ["\\*", ["*"], ["a"]],
    ["{a,b}.{js,ts}", ["a.js", "b.ts"], ["c.js", "a.py"]],
    ["{a,{b,c}}", ["a", "b", "c"], ["d", "{a,b}"]],
    ["{a}{,x}", ["{a}", "{a}x"], ["a", "ax"]],
    ["\\{a,b\\}", ["{a,b}"], ["a", "b"]],
    ["a.b", ["a.b"], ["axb"]],
  ])("%s", (...each) => check(Glob.search(each[0]), each));

  test("matches patterns quickly that would make a regular expression backtrack", () => {
    const startedAt = performance.now();
    expect(Glob.search(`${"*a".repeat(200)}b`).matches("a".repeat(4000))).toBe(false);
    expect(Glob.search(`${"**/*a/".repeat(80)}b`).matches("a/".repeat(500))).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });

  test("rejects patterns that are too long or expand to too many alternatives", () => {
    expect(Glob.search("{a,b}".repeat(6)).matches("ababab")).toBe(true);
    expect(() => Glob.search("{a,b}".repeat(7))).toThrow("at most 64");
    expect(() => Glob.search("{a,b}".repeat(30))).toThrow("at most 64");
    expect(() => Glob.search("x".repeat(600))).toThrow("at most 512");
  });

  test("matches a plain path", () => {
    const name = fc.stringMatching(/^[a-z0-9_.-]{1,8}$/);
    const paths = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
    fc.assert(fc.property(paths, (path) => Glob.search(`/${path}`).matches(path)));
  });
});

describe("NamePattern", () => {
  test("counts an invalid byte in a name as one character", () => {
    const matches = (pattern: string, name: string) => NamePattern.parse(pattern).matches(name);
    const [odd, after] = ["caf\udce9.log", "😀\udce9"];
    expect(["*", "*.log", "caf?.log", "caf*g", "caf[!a].log", odd].map((each) => matches(each, odd))).toEqual(
      Array(6).fill(true),
    );
    expect(["caf.log", "caf??.log", "caf\ufffd.log"].filter((each) => matches(each, odd))).toEqual([]);
    expect(["?", "??", "???"].filter((each) => matches(each, after))).toEqual(["??"]);
  });

  test("matches the same names as an equivalent regular expression", () => {
    const characters = fc.constantFrom("a", "b", "ü", "😀");
    const pieces = fc.oneof(characters, fc.constantFrom("*", "?", "[ab]", "[!b]"));
    const expression = (pattern: readonly string[]) =>
      new RegExp(`^${pattern.map((piece) => EXPRESSIONS[piece] ?? piece).join("")}$`, "u");
    const patterns = fc.array(pieces, { maxLength: 6 });
    const names = fc.array(characters, { maxLength: 6 }).map((all) => all.join(""));
    fc.assert(
      fc.property(
        patterns,
        names,
        (pattern, name) =>
          NamePattern.parse(pattern.join("")).matches(name) === expression(pattern).test(name),
      ),
      { numRuns: 2_000 },
    );
  });

  const EXPRESSIONS: Readonly<Record<string, string>> = { "*": ".*", "?": ".", "[!b]": "[^b]" };
});
