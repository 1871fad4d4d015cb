import { expect, test } from "vitest";
import { textOf } from "./line.ts";
import { headAndTail, lastLines } from "./streamed.ts";
import { StreamedMarkdown } from "./streamed-markdown.ts";

const look = { columns: 20, rows: 24, colour: true, unicode: true };

function rowsOf(...pieces: readonly (readonly [string, number])[]): string[] {
  const text = new StreamedMarkdown();
  for (const [piece, offset] of pieces) text.add(piece, offset);
  text.end();
  return text.takeRows(look).map(textOf);
}

test("shows a repeated piece once", () => {
  expect(rowsOf(["hello", 0], ["lo world", 3], ["hello world", 0])).toEqual(["hello world"]);
});

test("joins a character that arrives in two halves, and escapes half a character at the end", () => {
  expect(rowsOf(["a\ud83d", 0], ["\ude00b", 2])).toEqual(["a😀b"]);
  expect(rowsOf(["a\ud83d", 0])).toEqual(["a\\u{d83d}"]);
});

test("shows the beginning and the end of an output, and hides no single line", () => {
  expect(headAndTail("1\n2\n3\n4\n5\n6\n", 2, 2)).toEqual({ head: ["1", "2"], lines: ["5", "6"], hidden: 2 });
  expect(headAndTail("1\n2\n3\n4\n5\n", 2, 2)).toEqual({ lines: ["1", "2", "3", "4", "5"], hidden: 0 });
  expect(headAndTail("", 2, 2)).toEqual({ lines: [], hidden: 0 });
  expect(lastLines("1\n2\n3\n\n", 2)).toEqual({ lines: ["2", "3"], hidden: 1 });
});
