import { expect, test } from "vitest";
import { toWellFormed, wellFormed } from "./well-formed.ts";

test("half a character becomes a replacement mark, however deep it is", () => {
  expect(wellFormed({ a: ["x\ud83d", { "k\udc00": "y" }], b: 1, c: null })).toEqual({
    a: ["x\ufffd", { "k\ufffd": "y" }],
    b: 1,
    c: null,
  });
});

test("a value that is well-formed already is the very same value", () => {
  const value = { text: "😀", list: [1, { deep: "é" }], nothing: undefined, number: Number.NaN };
  expect(wellFormed(value)).toBe(value);
  expect(toWellFormed("😀")).toBe("😀");
});

test("a key named __proto__ stays a key", () => {
  const value: unknown = JSON.parse('{"__proto__":{"bad":"\\ud83d"},"x":1}');
  const mended = wellFormed(value);
  expect(JSON.stringify(mended)).toBe('{"__proto__":{"bad":"\ufffd"},"x":1}');
  expect(Reflect.get(Object.prototype, "bad")).toBeUndefined();
});
