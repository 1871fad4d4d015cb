import { expect, test } from "vitest";
import { OutputWindow } from "./progress.ts";

test("is due after every delta of a short output, and ignores repeated deltas", () => {
  const window = new OutputWindow();
  expect(window.append("one\n", 0)).toBe(true);
  expect(window.append("two\n", 4)).toBe(true);
  expect(window.append("two\n", 4)).toBe(false);
  expect(window.text).toBe("one\ntwo\n");
});

test("shows the tail of a long output at a cost proportional to the output", () => {
  const window = new OutputWindow();
  let shown = 0;
  for (let line = 0; line < 100_000; line += 1)
    if (window.append("0123456789", line * 10)) shown += window.text.length;
  expect(window.text).toMatch(/^…/);
  expect(window.text.length).toBeLessThanOrEqual(8 * 1024 + 1);
  expect(shown).toBeLessThan(6 * 1_000_000);
});
