import { expect, test } from "vitest";
import { readKeys } from "./keyboard.ts";

const text = (character: string) => ({ type: "text", text: character });

test.each([
  ["y", [text("y")]],
  ["é日😀", [text("é"), text("日"), text("😀")]],
  ["\r", [{ type: "enter" }]],
  ["\u0003", [{ type: "interrupt" }]],
  ["\u007f\u0015", [{ type: "backspace" }, { type: "clear" }]],
  ["\u001b", [{ type: "escape" }]],
  ["\u001b[A\u001b[1;5C\u001bOP", []],
  ["\u001by", []],
  ["\u001b]10;rgb:00/00/00\u0007n", [text("n")]],
  ["\u0001\u0002", []],
])("parses %j into keys", (chunk, keys) => {
  expect(readKeys(chunk)).toEqual(keys);
});
