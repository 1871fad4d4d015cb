import { expect, test } from "vitest";
import { TerminalText } from "./terminal.ts";

test("each answer has everything so far, and only what is new is taken", () => {
  const text = new TerminalText();
  expect([text.next("a", false), text.next("ab", false), text.next("ab", false)]).toEqual(["a", "b", ""]);
  expect(text.last("abc")).toBe("c");
});

test("an output that was never read is taken whole at the end, cut off or not", () => {
  expect(new TerminalText().last("all of it")).toBe("all of it");
  const cut = new TerminalText();
  expect([cut.next("the end", true), cut.last("the very end")]).toEqual(["", "the very end"]);
});

test("continues after truncated output", () => {
  const text = new TerminalText();
  text.next("one two ", false);
  expect(text.next("two three ", true)).toBe("");
  expect(text.last("wo three one two four")).toBe("four");
});

test("a gap is named", () => {
  const text = new TerminalText();
  text.next("one two ", false);
  expect(text.last("nine ten")).toBe("\n(The editor kept only the end of the output.)\nnine ten");
});
