import { LIMITS } from "@flint/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { BoundedOutput, cutMiddle, headOf, tailOf } from "./bounded.ts";

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
  expect(cut).toBe(`${"a".repeat(75)}\n[... 1005 bytes left out ...]\n${"é".repeat(10)}`);
});

test("cutMiddle counts characters too, and splits none", () => {
  expect(cutMiddle("short", 5, "characters")).toEqual({ text: "short", omitted: 0 });
  const { text: cut, omitted } = cutMiddle("😀".repeat(10), 11, "characters");
  expect(cut).toBe("😀😀😀😀\n[... 10 characters left out ...]\n😀");
  expect(omitted).toBe(10);
  expect(cutMiddle("x".repeat(1000), 100, "characters").text).toMatch(
    /^x{75}\n\[\.\.\. 905 characters left out \.\.\.\]\nx{20}$/,
  );
});

const GAP = /\n\[\.\.\. \d+ bytes left out \.\.\.\]\n/;

test("keeps and streams a short output unchanged", () => {
  const output = new BoundedOutput();
  expect([output.add("one\n"), output.add("two\n")]).toEqual(["one\n", "two\n"]);
  expect([output.text, output.remainder, output.omittedBytes]).toEqual(["one\ntwo\n", "", 0]);
  expect(output.printed).toEqual({ bytes: 8, lines: 2 });
});

test("keeps the beginning and the end of a long output and counts the rest [P11]", () => {
  const output = new BoundedOutput();
  let streamed = "";
  streamed += output.add("START");
  for (let round = 0; round < 400; round += 1) streamed += output.add("é".repeat(10_000));
  streamed += output.add("END");
  const total = Buffer.byteLength("STARTEND") + 400 * 20_000;
  expect(output.text).toMatch(/^START.*\n\[\.\.\. \d+ bytes left out \.\.\.\]\n.*END$/s);
  expect(Buffer.byteLength(output.text)).toBeLessThanOrEqual(LIMITS.output);
  expect(streamed + output.remainder).toBe(output.text);
  expect(output.omittedBytes).toBe(total - Buffer.byteLength(output.text.replace(GAP, "")));
  expect(output.printed).toEqual({ bytes: total, lines: 1 });
});

test("streams nothing more once a character did not fit into the beginning", () => {
  const output = new BoundedOutput();
  const room = Math.floor(LIMITS.output * 0.75);
  expect(output.add("x".repeat(room - 1))).toHaveLength(room - 1);
  expect([output.add("é"), output.add("y")]).toEqual(["", ""]);
  expect(output.text.endsWith("xéy")).toBe(true);
});

test("never splits a character", () => {
  const output = new BoundedOutput();
  output.add("x");
  for (let round = 0; round < 100; round += 1) output.add("😀".repeat(20_000));
  expect(output.text).not.toMatch(/\p{Surrogate}/u);
});
