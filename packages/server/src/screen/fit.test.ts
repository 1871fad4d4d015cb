import fc from "fast-check";
import { expect, test } from "vitest";
import { cutLine, wrapLine } from "./fit.ts";
import { lineOf, span, textOf } from "./line.ts";
import { textWidth } from "./width.ts";

const wrapped = (text: string, columns: number, indent = 0) =>
  wrapLine(lineOf(text), columns, indent).map(textOf);
const cut = (text: string, columns: number) => textOf(cutLine(lineOf(text), columns, "…"));

test.each([
  ["plain", 5],
  ["日本", 4],
  ["e\u0301", 1],
  ["👩🏽‍💻", 2],
  ["🇩🇪", 2],
  ["✔️", 2],
  ["", 0],
])("%j takes %i columns", (text, width) => {
  expect(textWidth(text)).toBe(width);
});

test("a long line is broken between words, and further rows have a margin", () => {
  expect(wrapped("one two   three four", 9)).toEqual(["one two  ", "three", "four"]);
  expect(wrapped("one two three four", 9, 2)).toEqual(["one two", "  three", "  four"]);
});

test("a word that is too long for a row is broken where the row ends", () => {
  expect(wrapped("  http://example.org/long", 10)).toEqual(["  http://e", "xample.org", "/long"]);
  expect(wrapped("日本語です", 5)).toEqual(["日本", "語で", "す"]);
});

test("a line is not broken at a fixed space, which is written as a plain one", () => {
  expect(wrapped("one [y]\u00a0yes [n]\u00a0no", 9)).toEqual(["one", "[y] yes", "[n] no"]);
});

test("an empty line stays a row", () => {
  expect(wrapped("", 10)).toEqual([""]);
});

test("a line that is cut says so, also in the middle of wide characters", () => {
  expect([cut("short", 5), cut("longer", 5), cut("日本語", 4)]).toEqual(["short", "long…", "日…"]);
});

test("a tab goes on to the next stop", () => {
  expect(cut("a\tb", 20)).toBe("a       b");
});

test("styles stay with their words when a line is broken", () => {
  const line = [span("red words", "red"), span(" and plain")];
  expect(wrapLine(line, 6)).toEqual([
    [{ text: "red", style: "red" }],
    [{ text: "words", style: "red" }],
    [{ text: "and", style: undefined }],
    [{ text: "plain", style: undefined }],
  ]);
});

test("no row is wider than the terminal, and no letter is lost", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 80 }),
      fc.integer({ min: 8, max: 40 }),
      (text, columns) => {
        const flat = text.replace(/[\p{Cc}\p{Cf}]/gu, "");
        const rows = wrapped(flat, columns);
        expect(rows.every((row) => textWidth(row) <= columns)).toBe(true);
        expect(rows.join("").replaceAll(" ", "")).toBe(flat.replaceAll(" ", ""));
        expect(textWidth(cut(flat, columns))).toBeLessThanOrEqual(columns);
      },
    ),
  );
});
