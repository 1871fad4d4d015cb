import { userInfo } from "node:os";
import { shellQuote } from "@flint/core/text";
import { expect, test } from "vitest";
import { readCommandLine, unwrapShell } from "./command-line.ts";

test.each([
  ["/bin/bash -lc ls", "ls"],
  ["/bin/bash -lc 'touch a1'", "touch a1"],
  ["bash -c 'echo \"$HOME\" && ls | wc'", 'echo "$HOME" && ls | wc'],
  [String.raw`/bin/zsh -lc 'echo '\''hi'\'''`, "echo 'hi'"],
  [`/bin/bash -lc "it's"`, "it's"],
  ["/bin/sh -c 'a\nb'", "a\nb"],
])("unwraps the script of %s", (line, script) => {
  expect(unwrapShell(line)).toBe(script);
});

test.each([
  "ls -la",
  "/bin/bash -lc",
  "/bin/bash -lc 'a' 'b'",
  "/bin/bash -x 'a'",
  "python -c 'print(1)'",
  "/tmp/evil/bash2 -lc ls",
  "/tmp/evil/bash -lc ls",
  "/bin/../tmp/evil/bash -lc ls",
  "./bash -lc ls",
  "bash -lc $(evil)",
  "bash -lc 'a' && rm -rf /",
  'bash -lc "$HOME"',
])("leaves %s as it is", (line) => {
  expect(unwrapShell(line)).toBe(line);
});

test("a script that was approved is not run by a program of the project", () => {
  const line = "/w/bin/bash -lc 'docker compose up'";
  expect(readCommandLine(line)).toEqual({ script: line, argv: ["bash", "-c", line], grantName: undefined });
});

test("reads a quoted word as the same word", () => {
  for (const word of ["plain", "two words", "it's", '"$x"', "", "a\nb"]) {
    expect(unwrapShell(`bash -lc ${shellQuote(word)}`)).toBe(word);
  }
});

test("unwraps what the user's own shell runs, wherever it is", () => {
  const { shell } = userInfo();
  // A user that services run as may have none.
  const own = shell !== null && /\/(?:ba|z|da)?sh$/.test(shell) ? shell : "/bin/sh";
  expect(unwrapShell(`${own} -lc ls`)).toBe("ls");
});
