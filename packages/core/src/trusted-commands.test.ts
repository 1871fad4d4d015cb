import { expect, test } from "vitest";
import { isTrustedCommand } from "./trusted-commands.ts";

test.each([
  "ls",
  "ls -la src",
  "cat -n a.txt b.txt",
  "head -n 5 log",
  "head -20 log",
  "tail -c100 log",
  "wc -l a.txt",
  "pwd",
  "date +%Y-%m-%d",
  "date -u",
  "echo hello",
  "stat a.txt",
  "which node",
])("%j is known to only read", (command) => {
  expect(isTrustedCommand(command)).toBe(true);
});

const SLY = [
  "",
  " ls",
  "ls; x",
  "ls && x",
  "ls | x",
  "ls & x",
  "ls $(x)",
  "ls `x`",
  "ls\nx",
  "ls > f",
  "ls < f",
  "ls *",
  "ls ~",
  "ls {a,b}",
  "ls 'a b'",
  "ls  -la",
  "l\\s",
  "LS",
  "./ls",
  "/bin/ls",
  "x/ls",
  "A=1 ls",
  "git status",
  "git -c alias.x=!x x",
  "git -p log",
  "rg --pre x",
  "find . -exec x",
  "sed -n w",
  "env x",
  "bash -c x",
  "sh x",
  "xargs rm",
  "tail -f log",
  "tail --pid=1 log",
  "wc --files0-from=x",
  "ls --color=auto",
  "cat -",
  "cat --help",
  "echo -e x",
  "date -s now",
  "date --set=now",
  "date 0102030420",
  "constructor",
  "__proto__",
  "toString x",
];

test("anything that is not plainly a command that only reads is asked about", () => {
  expect(SLY.filter(isTrustedCommand)).toEqual([]);
});
