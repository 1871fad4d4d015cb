import fc from "fast-check";
import { expect, test } from "vitest";
import { truncateMiddle, visibleText, wellFormedValue } from "./text.ts";

test("repairs lone surrogates and makes control characters visible", () => {
  expect(visibleText("a\ud800b\0c\u001b[1m\u007f\t\r\n😀")).toBe("a\ufffdb␀c␛[1m␡\t\r\n😀");
});

test("leaves converted text unchanged", () => {
  const units = fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes));
  fc.assert(fc.property(units, (text) => visibleText(visibleText(text)) === visibleText(text)));
});

test("cuts the middle out of a long text without splitting characters", () => {
  expect(truncateMiddle("short", 10)).toBe("short");
  expect(truncateMiddle("😀".repeat(10), 6)).toBe("😀\ufffd\n… 14 characters left out …\n\ufffd😀");
});

test("repairs all strings of a value, keys included, at any depth", () => {
  expect(wellFormedValue({ "\ud800": ["\udfff", 1, null, true] })).toEqual({
    "\ufffd": ["\ufffd", 1, null, true],
  });
  let deep: unknown = "\ud800";
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  expect(() => wellFormedValue(deep)).not.toThrow();
});
