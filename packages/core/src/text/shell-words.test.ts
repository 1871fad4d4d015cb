import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseSimpleCommand, shellQuote, singleQuote } from "./shell-words.ts";

test.each<[string, readonly string[]]>([
  ["ls", ["ls"]],
  ["  ls   -la  ", ["ls", "-la"]],
  ["git log --format=%H -n 5", ["git", "log", "--format=%H", "-n", "5"]],
  ["grep -rn 'a b' \"c d\" e", ["grep", "-rn", "a b", "c d", "e"]],
  ["rg --glob='*.ts' x", ["rg", "--glob=*.ts", "x"]],
  ["echo '' \"\"", ["echo", "", ""]],
  ["echo 'a\"$(b)`' \"it's\"", ["echo", 'a"$(b)`', "it's"]],
  ["echo 'größe 漢字'", ["echo", "größe 漢字"]],
])("%j is split into %j", (command, words) => {
  expect(parseSimpleCommand(command)).toEqual(words);
});

const NOT_SIMPLE = [
  ...["", " ", "ls;x", "ls; x", "ls && x", "ls || x", "ls | x", "ls & x", "ls &", "(ls)", "{ ls; }", "! ls"],
  ...[
    "ls $(x)",
    "ls `x`",
    "ls $x",
    "ls $\u007bx}",
    "ls $[1]",
    "ls $'a'",
    'ls "$x"',
    'ls "`x`"',
    'ls "a\\"b"',
  ],
  ...["ls\nx", "ls\rx", "ls\tx", "ls\0", "ls\u00a0x", "ls\u2003x", "ls\u200bx", "ls \u202ex", "ls\u2028x"],
  ...["ls '\u202e'", "ls '\n'", "ls '\u00a0'", "ls '\u200b'", "ls '\ud800'", "ls '\u001b[0m'", 'ls "a!b"'],
  ...["ls > f", "ls >f", "ls < f", "ls 2>&1", "cat <(x)", "cat <<x", "ls *", "ls ?", "ls [a]", "ls {a,b}"],
  ...["ls ~", "ls ~root", "ls a\\ b", "l\\s", "ls #x", "ls ^x", "ls 'a", 'ls "a', "ls ''' x", "ls =x"],
  ...[
    "A=1 ls",
    "A=1",
    "'A=1' x",
    "'' ls",
    "if x",
    "time x",
    "while x",
    "for x in y",
    "function x",
    "coproc x",
  ],
  ...["ｌｓ", "ls ü", "ls\u0000x", `echo ${"x".repeat(2000)}`, `echo${" x".repeat(100)}`],
];

test("has no words for a command in which a shell does more than split words", () => {
  expect(NOT_SIMPLE.filter((command) => parseSimpleCommand(command) !== undefined)).toEqual([]);
});

test("a long text is rejected as quickly as a short one", () => {
  const before = process.cpuUsage();
  for (const text of ["a", "''", " ", "a ", "'a'\"b\""]) {
    expect(parseSimpleCommand(`${text.repeat(1900 / text.length)}$`)).toBeUndefined();
  }
  // Of this process: others that keep the machine busy do not count.
  const { user } = process.cpuUsage(before);
  expect(user / 1000).toBeLessThan(500);
});

test("a shell splits it into the same words", () => {
  const print = (command: string) => {
    const script = `show() { for word do printf '%s\\0' "$word"; done; }; show ${command}`;
    return execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
  };
  const commands = fc.stringMatching(/^[a-z'" ./=$\\~*-]{1,12}$/);
  fc.assert(
    fc.property(commands, (command) => {
      const words = parseSimpleCommand(command);
      if (words !== undefined) expect(words).toEqual(print(command));
    }),
    { numRuns: 100 },
  );
});

/** The words that a shell makes of a line. */
function wordsOf(line: string): string[] {
  const printed = execFileSync("sh", ["-c", `printf '%s\\0' ${line}`], { encoding: "utf8" });
  return printed.split("\0").slice(0, -1);
}

test("quotes only where a shell would read something else", () => {
  expect(["src/a.ts", "--x=1", "", "a b", "it's", "$HOME", "*"].map(shellQuote)).toEqual([
    ...["src/a.ts", "--x=1", "''", "'a b'", "'it'\\''s'", "'$HOME'", "'*'"],
  ]);
  expect(singleQuote("src/a.ts")).toBe("'src/a.ts'");
});

test("a shell reads every quoted string as exactly that string", () => {
  const strings = fc.array(
    fc.string({ unit: "binary", maxLength: 30 }).map((text) => text.replaceAll("\0", "")),
    { minLength: 1, maxLength: 20 },
  );
  fc.assert(
    fc.property(strings, (words) => {
      const sent = words.map((word) => Buffer.from(word).toString());
      expect(wordsOf(sent.map(shellQuote).join(" "))).toEqual(sent);
      expect(wordsOf(sent.map(singleQuote).join(" "))).toEqual(sent);
    }),
    { numRuns: 20 },
  );
});
