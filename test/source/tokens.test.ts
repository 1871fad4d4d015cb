import { expect, test } from "vitest";
import { codeTokens, tokenize } from "./tokens.ts";

const kinds = (source: string) => tokenize(source).map((token) => `${token.kind} ${token.text}`);

test("comments, strings and code are distinguished", () => {
  expect(kinds(`const a = "// no"; // yes\n/* also */ b('/* no */');`)).toEqual([
    "word const",
    "word a",
    "punctuation =",
    "string // no",
    "punctuation ;",
    "comment // yes",
    "comment /* also */",
    "word b",
    "punctuation (",
    "string /* no */",
    "punctuation )",
    "punctuation ;",
  ]);
});

test("a slash is a division after a value and a regular expression elsewhere", () => {
  expect(kinds("a / b / c")).toEqual(["word a", "punctuation /", "word b", "punctuation /", "word c"]);
  expect(kinds("return /[/'\"]\\//.test(a)").slice(0, 3)).toEqual([
    "word return",
    `regex [/'"]\\/`,
    "punctuation .",
  ]);
});

test("code inside a template literal is seen, and its text is not code", () => {
  expect(kinds("`// $" + "{ f({ a: `$" + "{b}` }) } import` + c")).toEqual([
    "template // ",
    "word f",
    "punctuation (",
    "punctuation {",
    "word a",
    "punctuation :",
    "template ",
    "word b",
    "template ",
    "punctuation }",
    "punctuation )",
    "template  import",
    "punctuation +",
    "word c",
  ]);
});

test("every token knows its line, also after comments and templates of several lines", () => {
  const lines = tokenize("#!/usr/bin/env node\n/*\n*/ a `\n\n` b").map(({ text, line }) => [
    text.trim(),
    line,
  ]);
  expect(lines).toEqual([
    ["/*\n*/", 2],
    ["a", 3],
    ["", 3],
    ["b", 5],
  ]);
});

test("a lone quote spoils nothing after its line", () => {
  expect(codeTokens("don't\nimport 'a'").at(-1)).toEqual({ kind: "string", text: "a", line: 2 });
});

test("escaped delimiters do not end a literal", () => {
  expect(kinds(`"a\\"b" 'c\\\\' \`d\\\`e\``)).toEqual(['string a\\"b', "string c\\\\", "template d\\`e"]);
});
