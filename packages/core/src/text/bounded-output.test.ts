import { LIMITS } from "@flint/protocol";
import { expect, test } from "vitest";
import { BoundedOutput } from "./bounded-output.ts";

const GAP = /\n… \d+ bytes left out …\n/;

test("keeps and streams a short output unchanged", () => {
  const output = new BoundedOutput();
  expect([output.add("one\n"), output.add("two\n")]).toEqual(["one\n", "two\n"]);
  expect([output.text, output.rest, output.omittedBytes]).toEqual(["one\ntwo\n", "", 0]);
  expect(output.printed).toEqual({ bytes: 8, lines: 2 });
});

test("keeps the beginning and the end of a long output and counts the rest [P11]", () => {
  const output = new BoundedOutput();
  let streamed = "";
  streamed += output.add("START");
  for (let round = 0; round < 400; round += 1) streamed += output.add("é".repeat(10_000));
  streamed += output.add("END");
  const total = Buffer.byteLength("STARTEND") + 400 * 20_000;
  expect(output.text).toMatch(/^START.*\n… \d+ bytes left out …\n.*END$/s);
  expect(Buffer.byteLength(output.text)).toBeLessThanOrEqual(LIMITS.output);
  expect(streamed + output.rest).toBe(output.text);
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
