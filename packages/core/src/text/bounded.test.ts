import fc from "fast-check";
import { expect, test } from "vitest";
import { cutMiddle, headOf, tailOf } from "./bounded.ts";

const text = fc.string({ unit: "grapheme", maxLength: 60 });
const size = fc.nat(80);

test("headOf returns the longest beginning that fits, in whole characters", () => {
  fc.assert(
    fc.property(text, size, (whole, bytes) => {
      const head = headOf(whole, bytes);
      const next = [...whole.slice(head.length)][0] ?? "";
      expect(whole.startsWith(head)).toBe(true);
      expect(Buffer.byteLength(head)).toBeLessThanOrEqual(bytes);
      expect(next === "" || Buffer.byteLength(head + next) > bytes).toBe(true);
    }),
  );
});

test("tailOf returns the longest end that fits, in whole characters", () => {
  fc.assert(
    fc.property(text, size, (whole, bytes) => {
      const tail = tailOf(whole, bytes);
      const before = [...whole.slice(0, whole.length - tail.length)].at(-1) ?? "";
      expect(whole.endsWith(tail)).toBe(true);
      expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(bytes);
      expect(before === "" || Buffer.byteLength(before + tail) > bytes).toBe(true);
    }),
  );
});

test("cutMiddle keeps the beginning and the end of a long text and states how much is missing", () => {
  expect(cutMiddle("short", 5)).toEqual({ text: "short", omitted: 0 });
  const { text: cut, omitted } = cutMiddle(`${"a".repeat(500)}${"é".repeat(300)}`, 100);
  expect(omitted).toBe(1100 - 75 - 20);
  expect(cut).toBe(`${"a".repeat(75)}\n… 1005 bytes left out …\n${"é".repeat(10)}`);
});
