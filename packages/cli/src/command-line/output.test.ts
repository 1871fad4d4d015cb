import { expect, test } from "vitest";
import { columns } from "./output.ts";

test("rows are aligned, and the last column ends where its text ends", () => {
  expect(
    columns([
      ["a", "long"],
      ["bbb", "x"],
    ]),
  ).toBe("a    long\nbbb  x\n");
});

test("what an agent said in a row can neither break the row nor the terminal", () => {
  expect(columns([["a\u001b[2J\nb", "c"]])).toBe("a\\u{1b}[2J b  c\n");
});

test("no rows are no lines", () => {
  expect(columns([])).toBe("");
});
