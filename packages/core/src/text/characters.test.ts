import fc from "fast-check";
import { expect, test } from "vitest";
import {
  displayText,
  hasHiddenCharacters,
  toWellFormed,
  truncate,
  visibleText,
  wellFormed,
} from "./characters.ts";

test("replaces lone surrogates at any depth", () => {
  expect(wellFormed({ a: ["x\ud83d", { "k\udc00": "y" }], b: 1, c: null })).toEqual({
    a: ["x\ufffd", { "k\ufffd": "y" }],
    b: 1,
    c: null,
  });
});

test("returns the same object when everything is well-formed", () => {
  const value = { text: "😀", list: [1, { deep: "é" }], nothing: undefined, number: Number.NaN };
  expect(wellFormed(value)).toBe(value);
  expect(toWellFormed("😀")).toBe("😀");
});

test("keeps a key named __proto__ a key", () => {
  const value: unknown = JSON.parse('{"__proto__":{"bad":"\\ud83d"},"x":1}');
  const repaired = wellFormed(value);
  expect(JSON.stringify(repaired)).toBe('{"__proto__":{"bad":"\ufffd"},"x":1}');
  expect(Reflect.get(Object.prototype, "bad")).toBeUndefined();
});

test("finds characters that a reader would not notice, and accepts ordinary text", () => {
  const hidden = [
    ...["a\u0000", "a\u001b[2K", "a\rb", "a\u0008", "a\u007f", "a\u009b", "a\u00adb", "a\u200bb", "a\u200db"],
    ...[
      "a\u202eb",
      "a\u2066b",
      "a\u061cb",
      "a\ufeffb",
      "a\u2060b",
      "a\u2028b",
      "a\u00a0b",
      "a\u3000b",
      "a\u2003b",
    ],
    ...["a\u2800b", "a\u3164b", "a\ufe0fb", "a\u{e0041}b", "a\u{e0100}b", "a\ud800b", "a\ue000b"],
  ];
  expect(hidden.filter((text) => !hasHiddenCharacters(text))).toEqual([]);
  const plain = [
    "",
    "ls -la",
    "a\tb\nc",
    "grüße aus Köln",
    "漢字 かな 한글",
    "عربي",
    "e\u0301",
    "😀 👍🏽",
    "→ ✓ “”",
  ];
  expect(plain.filter(hasHiddenCharacters)).toEqual([]);
});

test("truncates between characters, with an ellipsis", () => {
  expect(truncate("abc", 3)).toBe("abc");
  expect(truncate("abcd", 3)).toBe("ab…");
  expect(truncate("a😀b", 3)).toBe("a…");
});

test("removes what cannot be seen from untrusted text", () => {
  expect(displayText(" a\u001b[31mred\u202e\0\r\nb\tc\ud800 ", 100)).toBe("ared\nb\tc\ufffd");
});

test("makes control characters visible to a model", () => {
  expect(visibleText("a\ud800b\0c\u001b[1m\u007f\t\r\n😀")).toBe("a\ufffdb␀c␛[1m␡\t\r\n😀");
});

test("leaves text unchanged that is visible already", () => {
  const units = fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes));
  fc.assert(fc.property(units, (text) => visibleText(visibleText(text)) === visibleText(text)));
});
