import fc from "fast-check";
import { expect, test } from "vitest";
import { NamePattern } from "./pattern.ts";

test("counts an invalid byte in a name as one character", () => {
  const matches = (pattern: string, name: string) => NamePattern.parse(pattern).matches(name);
  const [odd, after] = ["caf\udce9.log", "😀\udce9"];
  expect(["*", "*.log", "caf?.log", "caf*g", "caf[!a].log", odd].map((each) => matches(each, odd))).toEqual(
    Array(6).fill(true),
  );
  expect(["caf.log", "caf??.log", "caf\ufffd.log"].filter((each) => matches(each, odd))).toEqual([]);
  expect(["?", "??", "???"].filter((each) => matches(each, after))).toEqual(["??"]);
});

test("matches the same names as an equivalent regular expression", () => {
  const characters = fc.constantFrom("a", "b", "ü", "😀");
  const pieces = fc.oneof(characters, fc.constantFrom("*", "?", "[ab]", "[!b]"));
  const expression = (pattern: readonly string[]) =>
    new RegExp(`^${pattern.map((piece) => EXPRESSIONS[piece] ?? piece).join("")}$`, "u");
  const patterns = fc.array(pieces, { maxLength: 6 });
  const names = fc.array(characters, { maxLength: 6 }).map((all) => all.join(""));
  fc.assert(
    fc.property(
      patterns,
      names,
      (pattern, name) => NamePattern.parse(pattern.join("")).matches(name) === expression(pattern).test(name),
    ),
    { numRuns: 2_000 },
  );
});

const EXPRESSIONS: Readonly<Record<string, string>> = { "*": ".*", "?": ".", "[!b]": "[^b]" };
