import fc from "fast-check";
import { expect, test } from "vitest";
import { lexBlocks, lexerBlocks } from "./lex.ts";

const PIECES = [
  ...[
    "word",
    "Word",
    "漢字",
    "été",
    "Ж",
    "한글",
    " ",
    "  ",
    "\n",
    "\n\n",
    ".",
    ",",
    "(",
    ")",
    "'",
    "1",
    "1.",
    "12)",
  ],
  ...[
    "-",
    "--",
    "---",
    "=",
    "===",
    "+ ",
    "_",
    "www.",
    "http://a.b",
    "a@b.c",
    "…",
    "—",
    "“",
    "!",
    "/",
    "%",
    "\t",
  ],
  ...["*", "#", "`", "|", "&amp;", "<b>", "~", "\\", "[a](b)", ":"],
];

test("a paragraph of words is read as the lexer reads it", () => {
  const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(text, (given) => {
      expect(lexBlocks(given)).toEqual(lexerBlocks(given));
    }),
    { numRuns: 1_500 },
  );
});
