import fc from "fast-check";
import { expect, test } from "vitest";
import { nativePath, shownPath, textOf } from "./disk.ts";

test("any name gives back its exact bytes, also after a way through JSON", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
      const text: string = JSON.parse(JSON.stringify(textOf(Buffer.from(bytes))));
      expect(Buffer.from(nativePath(text))).toEqual(Buffer.from(bytes));
    }),
  );
});

test("a name that is text stays as it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect([textOf(Buffer.from(text)), nativePath(text), shownPath(text)]).toEqual([text, text, text]);
    }),
  );
});

test("bytes that are no text are shown as numbers", () => {
  expect(shownPath(textOf(Buffer.from([0x61, 0xff, 0xc3, 0xa9, 0x80])))).toBe("a\\xffé\\x80");
});
