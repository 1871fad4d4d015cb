import { expect, test } from "vitest";
import { commandActions } from "./command-actions.ts";

const read = (command: string, name: string, path = name) => ({ type: "read", command, name, path });
const listFiles = (command: string, path?: string) => ({ type: "listFiles", command, path });
const search = (command: string, query: string, path?: string) => ({ type: "search", command, query, path });

test.each([
  ["cat src/a.ts", [read("cat src/a.ts", "a.ts", "src/a.ts")]],
  ["cat a b", [read("cat a b", "a"), read("cat a b", "b")]],
  ["sed -n '1,20p' 'my file'", [read("sed -n '1,20p' 'my file'", "my file")]],
  ["head -n 5 a | wc -l", [read("head -n 5 a", "a")]],
  ["cat a && ls -la src", [read("cat a", "a"), listFiles("ls -la src", "src")]],
  ["ls", [listFiles("ls")]],
  ["rg --files src | sort", [listFiles("rg --files src", "src")]],
  ["rg -n 'a && b' src 2>/dev/null", [search("rg -n 'a && b' src", "a && b", "src")]],
  ["grep -rn -e foo .", [search("grep -rn -e foo .", "foo", ".")]],
  ["git grep foo", [search("git grep foo", "foo")]],
  ["find . -name '*.ts'", [search("find . -name '*.ts'", "*.ts", ".")]],
  ["find src -type f", [listFiles("find src -type f", "src")]],
  ["cd docs && cat a.md", [read("cat a.md", "a.md", "docs/a.md")]],
  ["cd docs && cat /etc/hosts", [read("cat /etc/hosts", "hosts", "/etc/hosts")]],
])("reads what %s does", (script, actions) => {
  expect(commandActions(script)).toEqual(actions);
});

test.each([
  ...[
    "npm test",
    "cat a > b",
    "cat a; rm a",
    "cat $(ls)",
    "cat `ls`",
    'cat "$HOME/a"',
    "cat a &",
    "cat *.ts",
  ],
  ...[
    "find . -name x -delete",
    "find . -exec rm {} +",
    "rg --pre evil x",
    "sed -i s/a/b/ a",
    "sed -n '1e' a",
  ],
  ...["echo 'cat a'", "cat a | sh", "cat a || true && rm b", "cat 'a", "cat a\\ b", "FOO=1 cat a", "(cat a)"],
  ...["cd x || cat y", "cd x; cat y", "cat a 2>/dev/null-b", "cat <(ls)", "eval cat a", "cat a # rm", ""],
  `cat ${"a ".repeat(3000)}`,
])("is not certain about %j, and claims nothing", (script) => {
  expect(commandActions(script)).toEqual([{ type: "unknown", command: script }]);
});
