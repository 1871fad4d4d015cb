import { expect, test } from "vitest";
import { visible } from "./visible.ts";

test.each([
  ["plain text, ünïcode and 日本", "plain text, ünïcode and 日本"],
  ["two\nlines\tand a tab", "two\nlines\tand a tab"],
  ["\u001b]52;c;aGk=\u0007", "\\u{1b}]52;c;aGk=\\u{7}"],
  ["two\r\nlines", "two\nlines"],
  ["over\rwritten", "over\\u{d}written"],
  ["abc\u202edcba", "abc\\u{202e}dcba"],
  ["zero\u200bwidth", "zero\\u{200b}width"],
])("%j is shown as %j on a terminal", (text, shown) => {
  expect(visible(text)).toBe(shown);
});
