import fc from "fast-check";
import { expect, test } from "vitest";
import * as node from "./bytes.ts";
import * as browser from "./bytes-browser.ts";

// Fails to compile when one of the two lacks what the other has.
const inBrowser: typeof node = browser;

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 40 }).map((text) => new TextEncoder().encode(text)),
);
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("\ud800", "a\udc00b", "\ufeffhello", "\ud83d\ude00", ""),
);

test("Node and browsers agree on which bytes are UTF-8 and how they decode", () => {
  fc.assert(
    fc.property(bytes, fc.nat(8), (given, skipped) => {
      const start = Math.min(skipped, given.length);
      expect(inBrowser.isUtf8(given)).toBe(node.isUtf8(given));
      expect(inBrowser.viewOf(given)).toEqual(new Uint8Array(node.viewOf(given)));
      expect(inBrowser.decodeText(given, start, given.length)).toBe(
        node.decodeText(given, start, given.length),
      );
    }),
  );
});

test("Node and browsers agree on the bytes of a text", () => {
  fc.assert(
    fc.property(text, (given) => {
      expect(inBrowser.encodeText(given)).toEqual(new Uint8Array(node.encodeText(given)));
      expect(inBrowser.wellFormed(given)).toBe(node.wellFormed(given));
    }),
  );
  expect(inBrowser.allocate(7)).toHaveLength(node.allocate(7).length);
});
