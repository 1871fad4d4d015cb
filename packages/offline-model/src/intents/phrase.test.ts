import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { firstWords, Phrase } from "./phrase.ts";

describe("the words that a pattern cannot do without", () => {
  test.each<[RegExp, readonly string[] | undefined]>([
    [/\bwrite (`|")x/i, ["write"]],
    [/^(?:please )?(?:create|make) it/i, ["create", "make"]],
    [/^(?:(?:please|now)[, ]+)*(?:fix|repair)\b/i, ["fix", "repair"]],
    [/\blist (?:all )?files|\bwhat(?:'s| is)? in\b/i, ["list", "what"]],
    [/\b(?:show(?: me)?|summari[sz]e|tests?) x/i, ["show", "summari", "test"]],
    [/\b(?:find|where is) (?:a|b)|(?:\bwhere|^(?:please )?look) x/i, ["find", "where", "where", "look"]],
    [/^`([^`]+)`$/i, undefined],
    [/\b(a|b) x/i, undefined],
    [/x? y/i, undefined],
    [/\b(?:ab|[cd]e) x/i, undefined],
  ])("of %s are %j", (pattern, words) => expect(firstWords(pattern.source)).toEqual(words));
});

const PATTERNS = [
  /\b(?:list|show(?: me)?|what(?:'s| is)? in) (?:the )?files?\b/i,
  /^(?:please )?(?:create|make) (?:a )?(?:file|folder)/i,
  /\bwhere is (.+?) used|(?:\bwhere is|^(?:please )?find) it/i,
  /^(?:(?:please|now)[, ]+)*(?:fix|tests?)\b[^`]*$/i,
];
const WORDS =
  "please now list Show me what's what is in the files file create MAKE a folder where it used find fix test tests , `".split(
    " ",
  );

test("a phrase fits exactly what its pattern fits", () => {
  const texts = fc.array(fc.constantFrom(...WORDS), { maxLength: 7 }).map((words) => words.join(" "));
  fc.assert(
    fc.property(fc.constantFrom(...PATTERNS), texts, (pattern, text) => {
      const phrase = new Phrase(pattern);
      expect(phrase.test(text)).toBe(pattern.test(text));
      expect(phrase.exec(text)).toEqual(pattern.exec(text));
    }),
    { seed: 7, numRuns: 2_000 },
  );
});
