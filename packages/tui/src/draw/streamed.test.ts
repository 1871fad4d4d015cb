import fc from "fast-check";
import { expect, test } from "vitest";
import { textOf } from "./line.ts";
import { StreamedText } from "./streamed.ts";

function rowsOf(pieces: readonly string[], columns: number): string[] {
  const text = new StreamedText();
  const rows: string[] = [];
  let offset = 0;
  for (const piece of pieces) {
    text.add(piece, offset, columns);
    offset += piece.length;
    rows.push(...text.takeRows().map(textOf));
  }
  text.end(columns);
  return [...rows, ...text.takeRows().map(textOf)];
}

test("a row becomes final when the next one starts", () => {
  const text = new StreamedText();
  text.add("one two th", 0, 9);
  expect([text.takeRows().map(textOf), textOf(text.openRow)]).toEqual([["one two"], "th"]);
  text.add("ree\nfour", 10, 9);
  expect([text.takeRows().map(textOf), textOf(text.openRow)]).toEqual([["three"], "four"]);
});

test("shows a repeated piece once", () => {
  const text = new StreamedText();
  text.add("hello", 0, 20);
  text.add("lo world", 3, 20);
  text.add("hello world", 0, 20);
  expect(textOf(text.openRow)).toBe("hello world");
});

test("joins a character that arrives in two halves, and escapes half a character at the end", () => {
  expect(rowsOf(["a\ud83d", "\ude00b"], 20)).toEqual(["a😀b"]);
  expect(rowsOf(["a\ud83d"], 20)).toEqual(["a\\u{d83d}"]);
});

test("gives the same rows for any chunking", () => {
  const word = fc.constantFrom(
    "a",
    "word",
    "日本",
    "and ✔️ too",
    "\n",
    " ",
    "long-long-long-word",
    "👩🏽‍💻",
    "\r\n",
    "\u001b[2J",
  );
  fc.assert(
    fc.property(fc.array(word), fc.infiniteStream(fc.integer({ min: 1, max: 9 })), (words, sizes) => {
      const whole = words.join(" ");
      const pieces: string[] = [];
      for (let at = 0; at < whole.length; ) {
        const size = sizes.next().value ?? 1;
        pieces.push(whole.slice(at, at + size));
        at += size;
      }
      expect(rowsOf(pieces, 12)).toEqual(rowsOf([whole], 12));
    }),
  );
});
