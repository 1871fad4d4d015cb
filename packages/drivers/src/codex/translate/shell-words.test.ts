import { shellQuote } from "@flint/core/text";
import { expect, test } from "vitest";
import { unwrapShell } from "./shell-words.ts";

test.each([
  ["/bin/bash -lc ls", "ls"],
  ["/bin/bash -lc 'touch a1'", "touch a1"],
  ["bash -c 'echo \"$HOME\" && ls | wc'", 'echo "$HOME" && ls | wc'],
  [String.raw`/bin/zsh -lc 'echo '\''hi'\'''`, "echo 'hi'"],
  [`/bin/bash -lc "it's"`, "it's"],
  ["/bin/sh -c 'a\nb'", "a\nb"],
])("%s runs the script in it", (line, script) => {
  expect(unwrapShell(line)).toBe(script);
});

test.each([
  "ls -la",
  "/bin/bash -lc",
  "/bin/bash -lc 'a' 'b'",
  "/bin/bash -x 'a'",
  "python -c 'print(1)'",
  "/tmp/evil/bash2 -lc ls",
  "bash -lc $(evil)",
  "bash -lc 'a' && rm -rf /",
  'bash -lc "$HOME"',
])("%s is left as it is", (line) => {
  expect(unwrapShell(line)).toBe(line);
});

test("a quoted word is read as the same word", () => {
  for (const word of ["plain", "two words", "it's", '"$x"', "", "a\nb"]) {
    expect(unwrapShell(`bash -lc ${shellQuote(word)}`)).toBe(word);
  }
});
