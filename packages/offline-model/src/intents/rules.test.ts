import { describe, expect, test, vi } from "vitest";
import { ask, calls, REQUEST, text, tool, user } from "../testing/offline-model.ts";

/** The first call that a request leads to, or the answer if it leads to none. */
async function first(request: string): Promise<unknown> {
  const parts = await ask([user(request)]);
  const [call] = calls(parts);
  return call === undefined ? text(parts) : [call.tool, ...Object.values(call.input)];
}

const LIST = ["shell", "ls -p"];

describe("a request", () => {
  test.each([
    ["what is in this folder?", LIST],
    ["Please list the files.", LIST],
    ["list the files in src", ["shell", "ls -p -- src"]],
    ["run `ls -la | wc -l`", ["shell", "ls -la | wc -l"]],
    ["Run the command echo 'a b'", ["shell", "echo 'a b'"]],
    ["Workspace: /code\n\nrun `make`", ["shell", "make"]],
    ["please run this:\n```sh\nmake\nmake test\n```", ["shell", "make\nmake test"]],
    ["run `npm test`", ["shell", "npm test"]],
    [
      "The user ran this command in the terminal: ls\nIt ended with exit code 0. Its output:\na\n\nrun `make`",
      ["shell", "make"],
    ],
    [
      "You were interrupted by a crash at 2026-11-18T00:00:00.000Z. Look at the work tree.\n\nrun `make`",
      ["shell", "make"],
    ],
    ["write `hello` to notes/a.txt.", ["write_file", "notes/a.txt", "hello\n"]],
    ["write hello there to a.txt", ["write_file", "a.txt", "hello there\n"]],
    ["write notes.md", ["write_file", "notes.md", ""]],
    ["change file a.txt to two\nlines", ["write_file", "a.txt", "two\nlines\n"]],
    ['create a file "b.txt" with "x"', ["write_file", "b.txt", "x\n"]],
    ["create hello.py that prints hi", ["write_file", "hello.py", 'print("hi")\n']],
    ["create an empty file x.txt", ["write_file", "x.txt", ""]],
    ["create notes.md about the release", ["write_file", "notes.md", ""]],
    ["make a file a.txt containing two words", ["write_file", "a.txt", "two words\n"]],
    ["replace `a b` with `c` in src/x.ts", ["read_file", "src/x.ts"]],
    ["change foo to bar in x.ts.", ["read_file", "x.ts"]],
    ["run the tests", ["shell", "npm test"]],
    ["Can you run all the tests again, please?", ["shell", "npm test"]],
    ["explain src/a.ts", ["read_file", "src/a.ts"]],
    ["show me package.json.", ["read_file", "package.json"]],
    ["think about what is in this folder", LIST],
    ["answer as JSON: run `date`", ["shell", "date"]],
    ["count to 3", "1 2 3."],
    ["what did I ask before?", "This is the first thing you ask me in this thread."],
    ["Tell me a joke", expect.stringContaining("I follow fixed rules")],
    ["what does this project do?", expect.stringContaining("I follow fixed rules")],
    ["delete the file a b.txt", expect.stringContaining("I follow fixed rules")],
  ])("%s", async (request, expected) => expect(await first(request)).toEqual(expected));

  test("is used verbatim if it is long, and parsed in bounded time", async () => {
    const content = "write `a` ".repeat(50_000);
    expect(await first(`write "${content}" to big.txt`)).toEqual(["write_file", "big.txt", `${content}\n`]);
    expect(await first(`run \`${content.replaceAll("`", "")}\``)).toEqual(["shell", expect.any(String)]);
    for (const long of [
      "add x to ".repeat(100_000),
      "think about ".repeat(300),
      `add ${"a.".repeat(1900)} to b!x`,
    ])
      expect(await first(long)).toContain("I follow fixed rules");
  });

  test("that is a plan is split into steps", async () => {
    const tools = [...REQUEST.tools, tool("update_plan")];
    const steps = async (request: string) => {
      const [call] = calls(await ask([user(request)], { tools }));
      return call?.input.plan;
    };
    expect(await steps("plan to list files, run `date` and then write `x` to y.txt")).toMatchObject([
      { step: "list files" },
      { step: "run `date`" },
      { step: "write `x` to y.txt" },
    ]);
    expect(await steps("plan a better world")).toMatchObject([{ step: "Look at what is in the folder" }]);
  });
});

test("a request is tried against the few patterns that its first word allows, because V8 compiles what is tried", async () => {
  const exec = vi.spyOn(RegExp.prototype, "exec");
  await ask([user("hello")]);
  const tried = new Set(exec.mock.contexts);
  exec.mockRestore();
  expect(tried.size).toBeLessThan(15);
});
