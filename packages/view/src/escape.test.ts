import { expect, test } from "vitest";
import { escapeControls, escapeExact } from "./escape.ts";

test.each([
  ["plain text, ünïcode and 日本", "plain text, ünïcode and 日本"],
  ["two\nlines\tand a tab", "two\nlines\tand a tab"],
  ["\u001b]52;c;aGk=\u0007", "\\u{1b}]52;c;aGk=\\u{7}"],
  ["two\r\nlines", "two\nlines"],
  ["over\rwritten", "over\\u{d}written"],
  ["abc\u202edcba", "abc\\u{202e}dcba"],
  ["zero\u200bwidth", "zero\\u{200b}width"],
  ["a\u2028new line", "a\\u{2028}new line"],
  ["soft\u00adhyphen, \u3164filler", "soft\\u{ad}hyphen, \\u{3164}filler"],
  ["tag\u{e0041}", "tag\\u{e0041}"],
  ["hidden\u{e0101}", "hidden\\u{e0101}"],
  ["half \ud83d of a pair", "half \\u{d83d} of a pair"],
  ["👩🏽‍💻 and ✔️ and 🇩🇪", "👩🏽‍💻 and ✔️ and 🇩🇪"],
  ["a\u200db", "a\\u{200d}b"],
])("escapes %j as %j [P36]", (text, shown) => {
  expect(escapeControls(text)).toBe(shown);
});

test("escapes every character that is not what it looks like in exact text [P36]", () => {
  expect(escapeExact("rm\u00a0-rf\t/\r\nls  -l")).toBe("rm\\u{a0}-rf\\u{9}/\\u{d}\nls  -l");
});

test("no character that is invisible or steers a terminal counts as plain", () => {
  const unsafe = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u;
  const codes = Array.from({ length: 0x10000 }, (_, code) => code);
  const shown = codes.filter((code) => {
    const character = String.fromCharCode(code);
    const isLineBreak = character === "\n" || character === "\t";
    return unsafe.test(character) && !isLineBreak && escapeControls(character) === character;
  });
  expect(shown).toEqual([]);
});
