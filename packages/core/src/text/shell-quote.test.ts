import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shellQuote, singleQuote } from "./shell-quote.ts";

/** The words that a shell makes of a line. */
function wordsOf(line: string): string[] {
  const printed = execFileSync("sh", ["-c", `printf '%s\\0' ${line}`], { encoding: "utf8" });
  return printed.split("\0").slice(0, -1);
}

test("quotes only where a shell would read something else", () => {
  expect(["src/a.ts", "--x=1", "", "a b", "it's", "$HOME", "*"].map(shellQuote)).toEqual([
    ...["src/a.ts", "--x=1", "''", "'a b'", "'it'\\''s'", "'$HOME'", "'*'"],
  ]);
  expect(singleQuote("src/a.ts")).toBe("'src/a.ts'");
});

test("a shell reads every quoted string as exactly that string", () => {
  const strings = fc.array(
    fc.string({ unit: "binary", maxLength: 30 }).map((text) => text.replaceAll("\0", "")),
    { minLength: 1, maxLength: 20 },
  );
  fc.assert(
    fc.property(strings, (words) => {
      const sent = words.map((word) => Buffer.from(word).toString());
      expect(wordsOf(sent.map(shellQuote).join(" "))).toEqual(sent);
      expect(wordsOf(sent.map(singleQuote).join(" "))).toEqual(sent);
    }),
    { numRuns: 20 },
  );
});
