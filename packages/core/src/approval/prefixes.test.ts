import { verifies } from "@flint/testkit";
import { expect, test } from "vitest";
import { prefixOf } from "./prefixes.ts";

test.each([
  ["npm test", "npm test"],
  ["npm test -- --x", "npm test"],
  ["npm  test  'a b'", "npm test"],
  ["npm run build", "npm run build"],
  ["npm run build:web -- --watch", "npm run build:web"],
  ["yarn run lint", "yarn run lint"],
  ["git commit -m 'a message'", "git commit"],
  ["git diff HEAD~1", undefined],
  ["git log --oneline", "git log"],
  ["cargo test --release", "cargo test"],
  ["go test ./...", "go test"],
  ["go test -run TestX -count=1 ./...", "go test"],
  ["npm test -s src/a.test.ts -- --node-options=x", "npm test"],
  ["cargo test -p core -- --nocapture", "cargo test"],
])("%s is offered as %s", (command, prefix) => {
  expect(prefixOf(command)?.join(" ")).toBe(prefix);
});

/** Commands for which nothing but the exact command may be allowed. */
const NEVER = [
  ...["npm", "git", "cargo", "make", "ls", "eslint src"],
  ...["bash -c ls", "sh x.sh", "zsh", "python x.py", "python3 -m pytest", "node -e 1", "ruby x", "perl -e 1"],
  ...["env npm test", "sudo npm test", "xargs npm test", "ssh host npm test", "npx vitest", "find . -delete"],
  ...["time npm test", "nohup npm test", "timeout 5 npm test", "nice npm test", "doas npm test"],
  ...[
    "npm exec vitest",
    "npm x vitest",
    "npm install left-pad",
    "npm config set a b",
    "npm --prefix /x test",
  ],
  ...[
    "npm run",
    "npm run -s",
    "npm run node",
    "yarn run node",
    "bun run x.ts/y",
    "bun run sh",
    "pnpm exec x",
  ],
  ...["git -c alias.x=!x x", "git -C /x status", "git config a b", "git push", "git rebase --exec x"],
  ...[
    "git diff --ext-diff",
    "git diff --ext-d",
    "git log --output=/x",
    "git log --outp /x",
    "git show --textc",
  ],
  ...[
    "go test -exec x",
    "go build -toolexec=x",
    "go vet -vettool=x",
    "go run x",
    "cargo run",
    "cargo install x",
  ],
  ...["cargo test --config x", "npm test --script-shell=x", "npm test --node-options=--require=x"],
  ...["./npm test", "/usr/bin/npm test", "../npm test", "NPM test", "FOO=1 npm test", "docker run x"],
];

/** Options in spellings that the programs themselves understand, and ways to bring in others. */
const OPTIONS_THAT_CHANGE_WHAT_RUNS = [
  ...["npm", "pnpm", "yarn"].flatMap((runner) =>
    ["test", "run build"].flatMap((what) =>
      ["node-options=--require=./x.js", "prefix=/x", "script-shell=/x", "workspace=x", "C=/x"].flatMap(
        (option) => ["-", "--", "---", "-----"].map((dashes) => `${runner} ${what} ${dashes}${option}`),
      ),
    ),
  ),
  ...[
    "npm test --node-options --require=./x.js",
    "npm test --node-opt=x",
    "npm test --- --x",
    "npm test -ws",
  ],
  ...["npm test -s=x --prefix /x -- y", "yarn test --inspect", "yarn run lint --top-level", "pnpm test -r"],
  ...[
    "bun test --preload=./x.ts",
    "bun test -- --preload=./x.ts",
    "bun run build --bun",
    "bun test --define a=b",
  ],
  ...[
    "cargo test --target-dir /x",
    "cargo build --target x.json",
    "cargo clippy -- -Clinker=x",
    "cargo fmt -- --x",
  ],
  ...[
    "go build -ldflags=-extld=x",
    "go test --ldflags=x",
    "go test -o /x",
    "go test -modfile=x",
    "go vet ---exec x",
  ],
  ...[
    "git commit -m -- --output=x",
    "git commit -S",
    "git commit --no-verify",
    "git commit -n",
    "git diff -O/x",
  ],
  ...["git status -c core.fsmonitor=x --help", "deno task build --config x", "deno lint --import-map x"],
  ...[
    "dotnet build /p:X=y",
    "dotnet test @x.rsp",
    "dotnet build -p:X=y",
    "ruff check @x.txt",
    "biome lint @x",
  ],
];

test("a prefix covers no option that changes what runs, with any number of dashes", () => {
  expect(OPTIONS_THAT_CHANGE_WHAT_RUNS.filter((command) => prefixOf(command) !== undefined)).toEqual([]);
});

/** A harmless beginning with more behind it, or in it, than words. */
const TRICKS = [
  ...["npm test; x", "npm test && x", "npm test || x", "npm test | x", "npm test & x", "npm test\nx"],
  ...["npm test $(x)", "npm test `x`", "npm test > x", "npm test < x", "npm test <(x)", "npm test $X"],
  ...[
    "npm test 'x",
    'npm test "x',
    "npm test \\",
    "npm test #x",
    "npm test *",
    "npm test ~",
    "npm test {a,b}",
  ],
  ...["npm test \u202ex", "npm\u00a0test", "npm test\u200b", "npm test\r", "npm test\u001b[2K", "npm test\0"],
  ...["n'p'm 'tes't; x", "", " ", "constructor test", "__proto__ test", "toString x"],
];

verifies("P34", "no prefix is offered for what could run anything, or for shell syntax", () => {
  expect([...NEVER, ...TRICKS].filter((command) => prefixOf(command) !== undefined)).toEqual([]);
});
