import { expect, onTestFinished, test, vi } from "vitest";
import { columns, printJson, printRaw } from "./output.ts";

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

/** Standard output of the given kind, and what was written to it. */
function standardOutput(isTTY: boolean): () => string {
  const before = process.stdout.isTTY;
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  process.stdout.isTTY = isTTY;
  onTestFinished(() => {
    process.stdout.isTTY = before;
    write.mockRestore();
  });
  return () => write.mock.calls.map(([text]) => String(text)).join("");
}

test("prints an agent's text exactly for a program, and without its escape sequences on a terminal", () => {
  const text = "+\u001b]52;c;ZXZpbA==\u0007\n";
  const piped = standardOutput(false);
  printRaw(text);
  expect(piped()).toBe(text);
  process.stdout.isTTY = true;
  printRaw(text);
  printJson("\u009b2J");
  expect(piped().slice(text.length)).toBe('+\\u{1b}]52;c;ZXZpbA==\\u{7}\n"\\u{9b}2J"\n');
});
