import fc from "fast-check";
import { expect, test } from "vitest";
import { NamePattern } from "./name-pattern.ts";

test("an invalid byte in a name counts as one character", () => {
  const fits = (pattern: string, name: string) => NamePattern.of(pattern).fits(name);
  const [odd, after] = ["caf\udce9.log", "😀\udce9"];
  expect(["*", "*.log", "caf?.log", "caf*g", "caf[!a].log", odd].map((each) => fits(each, odd))).toEqual(
    Array(6).fill(true),
  );
  expect(["caf.log", "caf??.log", "caf\ufffd.log"].filter((each) => fits(each, odd))).toEqual([]);
  expect(["?", "??", "???"].filter((each) => fits(each, after))).toEqual(["??"]);
});

test("a name fits exactly if a regular expression with the same meaning finds it", () => {
  const signs = fc.constantFrom("a", "b", "ü", "😀");
  const pieces = fc.oneof(signs, fc.constantFrom("*", "?", "[ab]", "[!b]"));
  const expression = (pattern: readonly string[]) =>
    new RegExp(`^${pattern.map((piece) => EXPRESSIONS[piece] ?? piece).join("")}$`, "u");
  const patterns = fc.array(pieces, { maxLength: 6 });
  const names = fc.array(signs, { maxLength: 6 }).map((all) => all.join(""));
  fc.assert(
    fc.property(
      patterns,
      names,
      (pattern, name) => NamePattern.of(pattern.join("")).fits(name) === expression(pattern).test(name),
    ),
    { numRuns: 2_000 },
  );
});

const EXPRESSIONS: Readonly<Record<string, string>> = { "*": ".*", "?": ".", "[!b]": "[^b]" };
