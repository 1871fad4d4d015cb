import fc from "fast-check";
import { expect, test } from "vitest";
import { decodePath, displayPath, encodePath } from "./disk.ts";

test("decodes and encodes any file name without loss, also through JSON", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
      const text: string = JSON.parse(JSON.stringify(decodePath(Buffer.from(bytes))));
      expect(Buffer.from(encodePath(text))).toEqual(Buffer.from(bytes));
    }),
  );
});

test("does not change a name that is valid UTF-8", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect([decodePath(Buffer.from(text)), encodePath(text), displayPath(text)]).toEqual([
        text,
        text,
        text,
      ]);
    }),
  );
});

test("displays bytes that are not UTF-8 as numbers", () => {
  expect(displayPath(decodePath(Buffer.from([0x61, 0xff, 0xc3, 0xa9, 0x80])))).toBe("a\\xffé\\x80");
});
