import fc from "fast-check";
import { expect, test } from "vitest";
import { cutLine, lineOf, span, textOf, textWidth, wrapLine } from "./line.ts";

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
  // A soft hyphen, a hexagram and a counting rod, which are wide since Unicode 16.
  ["a\u00adb", 3],
  ["\u4dc0", 2],
  ["\u{1d300}", 2],
  ["\u{1d360}", 2],
])("%j is %i columns wide", (text, width) => {
  expect(textWidth(text)).toBe(width);
});

test("wraps between words and indents further rows", () => {
  expect(wrapped("one two   three four", 9)).toEqual(["one two  ", "three", "four"]);
  expect(wrapped("one two three four", 9, 2)).toEqual(["one two", "  three", "  four"]);
});

test("breaks a word that is longer than a row", () => {
  expect(wrapped("  http://example.org/long", 10)).toEqual(["  http://e", "xample.org", "/long"]);
  expect(wrapped("日本語です", 5)).toEqual(["日本", "語で", "す"]);
});

test("does not break at a no-break space", () => {
  expect(wrapped("one [y]\u00a0yes [n]\u00a0no", 9)).toEqual(["one", "[y] yes", "[n] no"]);
});

test("keeps an empty line as a row", () => {
  expect(wrapped("", 10)).toEqual([""]);
});

test("marks a cut line, also between wide characters", () => {
  expect([cut("short", 5), cut("longer", 5), cut("日本語", 4)]).toEqual(["short", "long…", "日…"]);
});

test("expands tabs to the next stop", () => {
  expect(cut("a\tb", 20)).toBe("a       b");
});

test("keeps styles when a line is wrapped", () => {
  const line = [span("red words", "red"), span(" and plain")];
  expect(wrapLine(line, 6)).toEqual([
    [{ text: "red", style: "red" }],
    [{ text: "words", style: "red" }],
    [{ text: "and", style: undefined }],
    [{ text: "plain", style: undefined }],
  ]);
});

/** The text of a line, regardless of spaces: those at a break are dropped, fixed ones are written as plain ones. */
const letters = (text: string) => text.replaceAll(/[ \u00a0]/g, "");

/** Signs that join, widen or turn into one another, beside plain ones. */
const TRICKY = fc.constantFrom(
  ...[
    " ",
    "\u00a0",
    "a",
    "b",
    "1",
    "#",
    "e\u0301",
    "\u0301",
    "\u20e3",
    "\ufe0f",
    "❤",
    "✔",
    "👩",
    "🏽",
    "💻",
    "日",
  ],
  ...["🇩", "🇪", "\u1100", "\u1161", "\u11a8", "क", "\u094d", "ำ"],
);
const LINE = fc.array(
  fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 40 }),
    fc.string({ unit: "binary", maxLength: 20 }),
    fc.string({ unit: TRICKY, maxLength: 30 }),
  ),
  { minLength: 1, maxLength: 3 },
);

test("never exceeds the width and never loses a character", () => {
  const columnsOf = fc.integer({ min: 8, max: 40 });
  const holds = (texts: readonly string[], columns: number, indent: number) => {
    const flat = texts.map((text) => text.replace(/[\p{Cc}\p{Cf}]/gu, ""));
    const line = flat.map((text, at) => span(text, at === 1 ? "red" : undefined));
    const rows = wrapLine(line, columns, indent).map(textOf);
    expect(rows.filter((row) => textWidth(row) > columns)).toEqual([]);
    expect(letters(rows.join(""))).toBe(letters(flat.join("")));
    expect(textWidth(textOf(cutLine(line, columns, "…")))).toBeLessThanOrEqual(columns);
  };
  const examples: [string[], number, number][] = [
    [["\u00a0"], 8, 0],
    // A heart that the next span makes wide.
    [["1234567❤", "\ufe0f", "b"], 8, 0],
    [["   🇩", "🇪", "wide"], 8, 4],
  ];
  fc.assert(fc.property(LINE, columnsOf, fc.integer({ min: 0, max: 12 }), holds), { examples });
});

test("keeps a combining mark with its base, also across styles", () => {
  expect(wrapLine([span("1234567❤"), span("\ufe0f!", "red")], 8)).toEqual([
    [{ text: "1234567", style: undefined }],
    [
      { text: "❤\ufe0f", style: undefined },
      { text: "!", style: "red" },
    ],
  ]);
});

test("a simple character takes as many columns as the same one with a mark, which is measured in full", () => {
  const codes = Array.from({ length: 0xfb00 }, (_, code) => code);
  const characters = codes
    .map((code) => String.fromCodePoint(code))
    .filter((text) => /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(text));
  const wrong: string[] = [];
  for (let at = 0; at < characters.length; at += 16) {
    const some = characters.slice(at, at + 16);
    const each = some.reduce((sum, character) => sum + textWidth(character), 0);
    if (each !== textWidth(some.map((character) => `${character}\u0301\n`).join("")))
      wrong.push(some.join(""));
  }
  expect(wrong).toEqual([]);
});
