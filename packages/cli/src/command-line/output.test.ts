import { expect, test } from "vitest";
import { columns } from "./output.ts";

test("aligns columns, without padding the last one", () => {
  expect(
    columns([
      ["a", "long"],
      ["bbb", "x"],
    ]),
  ).toBe("a    long\nbbb  x\n");
});

test("escapes control characters in cells", () => {
  expect(columns([["a\u001b[2J\nb", "c"]])).toBe("a\\u{1b}[2J b  c\n");
});

test("prints nothing without rows", () => {
  expect(columns([])).toBe("");
});
