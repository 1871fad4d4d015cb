import { LIMITS } from "@flint/protocol";
import { expect, test } from "vitest";
import { KeptOutput } from "./kept-output.ts";

test("a short output is kept and told as it is", () => {
  const kept = new KeptOutput();
  expect([kept.add("one\n"), kept.add("two\n")]).toEqual(["one\n", "two\n"]);
  expect([kept.text, kept.omittedBytes]).toEqual(["one\ntwo\n", 0]);
});

test("of a long output the beginning and the end are kept, and the rest is counted [P11]", () => {
  const kept = new KeptOutput();
  let told = 0;
  kept.add("START");
  for (let round = 0; round < 400; round += 1) told += kept.add("é".repeat(10_000)).length;
  kept.add("END");
  expect(told).toBeLessThan(LIMITS.output);
  expect(kept.text.length).toBeLessThanOrEqual(LIMITS.output);
  expect(kept.text).toMatch(/^START.*\n… \d+ bytes left out …\n.*END$/s);
  const total = Buffer.byteLength("STARTEND") + 400 * 20_000;
  const shown = Buffer.byteLength(kept.text.replace(/\n… \d+ bytes left out …\n/, ""));
  expect(kept.omittedBytes).toBe(total - shown);
});

test("no character is cut in two", () => {
  const kept = new KeptOutput();
  kept.add("x");
  for (let round = 0; round < 100; round += 1) kept.add("😀".repeat(20_000));
  expect(kept.text).not.toMatch(/\p{Surrogate}/u);
});
