import type { Message, ModelRequest } from "@flint/agent/model";
import { describe, expect, test } from "vitest";
import { intentOf } from "./intents/understand.ts";
import { OfflineModel } from "./offline-model.ts";
import { ask, calls, done, play, REQUEST, SHELL, text, tool, user } from "./testing/offline-talk.ts";

describe("what a request means", () => {
  test.each([
    ["what is in this folder?", { kind: "list" }],
    ["Please list the files.", { kind: "list" }],
    ["run `ls -la | wc -l`", { kind: "run", command: "ls -la | wc -l" }],
    ["Run the command echo 'a b'", { kind: "run", command: "echo 'a b'" }],
    ["please run this:\n```sh\nmake\nmake test\n```", { kind: "run", command: "make\nmake test" }],
    ["write `hello` to notes/a.txt.", { kind: "write", path: "notes/a.txt", content: "hello\n" }],
    ["change file a.txt to two\nlines", { kind: "write", path: "a.txt", content: "two\nlines\n" }],
    ['create a file "b.txt" with "x"', { kind: "write", path: "b.txt", content: "x\n" }],
    ["count to 1,000", { kind: "count", to: 1000 }],
    ["what did I ask before?", { kind: "recall" }],
    ["fail with `no luck`", { kind: "fail", message: "no luck" }],
    [
      "ask me which colour: red, green or blue?",
      { kind: "ask", question: "Which colour?", options: ["red", "green", "blue"] },
    ],
    [
      "think about what is in this folder",
      { kind: "think", about: "what is in this folder", next: { kind: "list" } },
    ],
    ["Tell me a joke", { kind: "other", text: "Tell me a joke" }],
    ["run the tests", { kind: "chore", chore: "test" }],
    ["Can you run all the tests again, please?", { kind: "chore", chore: "test" }],
    ["do the tests pass?", { kind: "chore", chore: "test" }],
    ["run `npm test`", { kind: "run", command: "npm test" }],
    ["build the project", { kind: "chore", chore: "build" }],
    ["run the linter", { kind: "chore", chore: "lint" }],
    ["type check the code", { kind: "chore", chore: "typecheck" }],
    ["list the files in src", { kind: "list", path: "src" }],
    ["what is in the docs folder?", { kind: "list", path: "docs" }],
    ["find files named config", { kind: "find", name: "config" }],
    ["find all *.ts files", { kind: "find", name: "*.ts" }],
    ["find .md files", { kind: "find", name: "*.md" }],
    ["where is main.rs?", { kind: "find", name: "main.rs" }],
    ["where is startServer used?", { kind: "search", text: "startServer" }],
    ["where is `a b` defined", { kind: "search", text: "a b" }],
    ["search for TODO", { kind: "search", text: "TODO" }],
    ["Find all uses of parse().", { kind: "search", text: "parse()" }],
    ["which files mention sqlite?", { kind: "search", text: "sqlite" }],
    ["explain src/a.ts", { kind: "explain", path: "src/a.ts" }],
    ["What does `src/a.ts` do?", { kind: "explain", path: "src/a.ts" }],
    ["show me package.json.", { kind: "explain", path: "package.json" }],
    ["what does this project do?", { kind: "overview" }],
    ["explain this repository", { kind: "overview" }],
    ["create hello.py that prints hi", { kind: "write", path: "hello.py", content: 'print("hi")\n' }],
    [
      "please create a script hello.sh that says it's me",
      { kind: "write", path: "hello.sh", content: "#!/bin/sh\nprintf '%s\\n' 'it'\\''s me'\n" },
    ],
    ["create an empty file x.txt", { kind: "write", path: "x.txt", content: "" }],
    ["create notes.md about the release", { kind: "write", path: "notes.md", content: "# The release\n" }],
    ["make a file a.txt containing two words", { kind: "write", path: "a.txt", content: "two words\n" }],
    ["create a folder src/new", { kind: "run", command: "mkdir -p -- src/new" }],
    ["replace `a b` with `c` in src/x.ts", { kind: "replace", path: "src/x.ts", from: "a b", to: "c" }],
    ["change foo to bar in x.ts.", { kind: "replace", path: "x.ts", from: "foo", to: "bar" }],
    ["in x.ts, replace foo with bar baz", { kind: "replace", path: "x.ts", from: "foo", to: "bar baz" }],
    ["add a line `node_modules` to .gitignore", { kind: "append", path: ".gitignore", line: "node_modules" }],
    ["append hello world to notes.txt", { kind: "append", path: "notes.txt", line: "hello world" }],
    ["rename old.ts to new.ts", { kind: "run", command: "mv -n -- old.ts new.ts" }],
    ["delete the file a b.txt", { kind: "other", text: "delete the file a b.txt" }],
    ["delete `a b.txt`", { kind: "run", command: "rm -- 'a b.txt'" }],
    ["what changed?", { kind: "run", command: "git status --short" }],
    ["review my changes", { kind: "review" }],
    ["show me what you can do", { kind: "demo" }],
    ["summarise our conversation", { kind: "summarise" }],
  ])("%s", (request, intent) => expect(intentOf(request)).toEqual(intent));

  test("a long request is taken word for word, and never takes long to be understood", () => {
    const content = "write `a` ".repeat(50_000);
    expect(intentOf(`write "${content}" to big.txt`)).toEqual({
      kind: "write",
      path: "big.txt",
      content: `${content}\n`,
    });
    expect(intentOf(`run \`${content.replaceAll("`", "")}\``)).toMatchObject({ kind: "run" });
    expect(intentOf("add x to ".repeat(100_000))).toMatchObject({ kind: "other" });
    expect(intentOf("think about ".repeat(300))).toMatchObject({ kind: "think", next: { kind: "other" } });
  });

  test("a plan is cut into steps that can be worked on", () => {
    expect(intentOf("plan to list files, run `date` and then write `x` to y.txt")).toMatchObject({
      kind: "plan",
      steps: [{ work: { kind: "list" } }, { work: { command: "date" } }, { work: { path: "y.txt" } }],
    });
    expect(intentOf("plan a better world")).toMatchObject({ steps: [{ work: { kind: "list" } }] });
  });
});

test("it looks into the folder with a command that is known to only read, and says what it saw", async () => {
  const listing = {
    status: "done" as const,
    exitCode: 0,
    text: ".git/\nREADME.md\npackage.json\nsrc/\nx.txt\n",
  };
  const { steps, last } = await play([user("what is in this folder?")], [listing]);
  expect(calls(steps[0] ?? [])).toMatchObject([{ tool: "shell", input: { command: "ls -p" } }]);
  expect(last).toBe(
    "This folder holds 2 folders and 3 files. Worth knowing: README.md, package.json. Folders: .git/, src/. Files: README.md, package.json, x.txt.",
  );
});

test("an empty folder is called empty", async () => {
  const { last } = await play([user("list files")], [{ status: "done", exitCode: 0, text: "" }]);
  expect(last).toBe("This folder is empty.");
});

test("a command is run exactly as it was given, and its end and output are reported", async () => {
  const result = { status: "failed" as const, exitCode: 3, text: "oh no\n" };
  const { steps, last } = await play([user("run `echo oh no; exit 3`")], [result]);
  expect(calls(steps[0] ?? [])).toMatchObject([{ input: { command: "echo oh no; exit 3" } }]);
  expect(last).toBe("`echo oh no; exit 3` ended with exit code 3 and printed:\n\n```\noh no\n```");
});

test("what was declined is said to be declined", async () => {
  const declined = { status: "declined" as const, text: "Too risky" };
  expect((await play([user("run `rm x`")], [declined])).last).toBe(
    "I did not run `rm x`, because it was declined. Too risky.",
  );
});

test("a plan is told before each step and at its end", async () => {
  const told = done("");
  const { asked, last } = await play(
    [user("plan to list files and run `date`")],
    [told, done("a\n"), told, done("now\n"), told],
  );
  const statuses = asked.flatMap(([name, input]) => (name === "update_plan" ? [input.plan] : []));
  const plan = (...each: string[]) => [
    { step: "list files", status: each[0] },
    { step: "run `date`", status: each[1] },
  ];
  expect(statuses).toEqual([
    plan("inProgress", "pending"),
    plan("completed", "inProgress"),
    plan("completed", "completed"),
  ]);
  expect(last).toMatch(/^The plan is done\.\n\n1\. list files: .*\n\n2\. run `date`: /);
});

test("a plan uses the words that the tool has for how a step stands", async () => {
  const status = { enum: ["pending", "in_progress", "completed"] };
  const parameters = { properties: { plan: { items: { properties: { status } } } } };
  const tools = [...SHELL, tool("update_plan", parameters)];
  const failed = { status: "failed", text: "no", exitCode: 1 } as const;
  const { asked } = await play([user("plan to run `x`")], [done(""), failed, done("")], { tools });
  expect(asked.map(([, { plan }]) => plan)).toEqual([
    [{ step: "run `x`", status: "in_progress" }],
    undefined,
    [{ step: "run `x`", status: "completed" }],
  ]);
});

test("without a tool for plans the plan is said with the first step", async () => {
  const { steps } = await play([user("plan to list files and run `date`")], [done("")], { tools: SHELL });
  expect(text(steps[0] ?? [])).toBe("My plan:\n1. list files\n2. run `date`");
});

test("a question comes with its choices, and the answer is taken up", async () => {
  const { asked, last } = await play([user("ask me which colour: red or blue")], [done("red")]);
  const questions = [
    { id: "answer", question: "Which colour?", options: [{ label: "red" }, { label: "blue" }] },
  ];
  expect(asked).toEqual([["ask_user", { questions }]]);
  expect(last).toBe("You answered: red");
  const unheard = await play([user("ask me for a number")], [{ status: "failed", text: "" }]);
  expect(unheard.last).toBe("Nobody answered, so I leave it there.");
  expect(text(await ask([user("ask me which colour: red or blue")], { tools: SHELL }))).toBe(
    "Which colour? red, blue",
  );
});

test("thinking comes before the answer and is counted by itself", async () => {
  const parts = await ask([user("think about nothing")]);
  const types = [...new Set(parts.map((part) => part.type))];
  expect(types).toEqual(["reasoning-delta", "text-delta", "usage", "finish"]);
  const usage = parts.find((part) => part.type === "usage");
  expect(usage).toMatchObject({ usage: { inputTokens: 5, thinkingTokens: expect.any(Number) } });
});

test("what was added while it worked is answered too", async () => {
  const call: Message = {
    role: "assistant",
    text: "",
    calls: [{ callId: "call_0_0_0", tool: "shell", input: {} }],
  };
  const result: Message = {
    role: "tool",
    callId: "call_0_0_0",
    tool: "shell",
    status: "done",
    exitCode: 0,
    text: "x",
  };
  const parts = await ask([user("run `a`"), call, result, user("run `b`")]);
  expect(calls(parts)).toMatchObject([{ callId: "call_0_1_0", input: { command: "b" } }]);
});

test("what a summary took away in the middle of the work is not done again", async () => {
  const later: Message[] = [
    { role: "assistant", text: "", calls: [{ callId: "call_0_0_3", tool: "shell", input: {} }] },
    { role: "tool", callId: "call_0_0_3", tool: "shell", ...done("b\n") },
  ];
  const parts = await ask([user("plan to run `a` and run `b`"), ...later]);
  const plan = [{ status: "completed" }, { status: "completed" }];
  expect(calls(parts)).toMatchObject([{ tool: "update_plan", callId: "call_0_0_4", input: { plan } }]);
});

test("it remembers what was asked in the thread, and says when there was nothing", async () => {
  const earlier: Message[] = [user("list files"), { role: "assistant", text: "None.", calls: [] }];
  expect(text(await ask([...earlier, user("what did I ask before?")]))).toBe("You asked me:\n1. list files");
  expect(text(await ask([user("what did I ask before?")]))).toBe(
    "This is the first thing you ask me in this thread.",
  );
});

test("a compaction sums up what was asked and done, and keeps an earlier one", async () => {
  const conversation: Message[] = [
    user("run `date`"),
    { role: "assistant", text: "", calls: [{ callId: "c", tool: "shell", input: { command: "date" } }] },
    { role: "tool", callId: "c", tool: "shell", status: "done", text: "now" },
    { role: "assistant", text: "It is now.", calls: [] },
  ];
  const summary = text(await ask(conversation, { purpose: "compact" }));
  expect(summary).toBe(
    "Summary of the conversation so far.\nThe user asked:\n- run `date`\nCommands that were run:\n- date\nThe last answer began: It is now.",
  );
  const again = text(
    await ask([{ role: "system", text: summary }, user("count to 3")], { purpose: "compact" }),
  );
  expect(again).toContain("- run `date`");
  expect(again).toContain("- count to 3");
});

test("a review reads the changes without letting the repository run anything, and names the files", async () => {
  const diff =
    "diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,3 @@\n one\n-two\n+2\n+// TODO three\n";
  const results = ["new.txt\n", diff].map((output) => ({
    status: "done" as const,
    exitCode: 0,
    text: output,
  }));
  const { steps, last } = await play([user("Review.")], results, {
    purpose: "review",
    review: { type: "uncommittedChanges" },
  });
  expect(calls(steps[1] ?? [])).toMatchObject([
    { input: { command: "git -c core.fsmonitor=false --no-pager diff --no-ext-diff --no-textconv HEAD" } },
  ]);
  expect(last).toContain("The changes touch 2 files:\n- a.ts (+2 -1)\n- new.txt (new, not yet known to git)");
  expect(last).toContain("- a.ts:3 leaves something open: // TODO three");
});

test("names of branches and commits cannot become options or commands", async () => {
  const command = async (review: ModelRequest["review"]) => {
    const [call] = calls(await ask([user("Review.")], { purpose: "review", review }));
    return call?.input.command;
  };
  expect(await command({ type: "baseBranch", branch: "--output=x'; rm y" })).toMatch(
    / --end-of-options '--output=x'\\''; rm y\.\.\.HEAD'$/,
  );
  expect(await command({ type: "commit", sha: "abc" })).toMatch(/ show .* --end-of-options 'abc'$/);
});

test("an answer as JSON fits the schema that was given", async () => {
  const outputSchema = {
    type: "object",
    required: ["answer"],
    properties: {
      answer: { type: "string", maxLength: 10 },
      size: { enum: ["small", "large"] },
      score: { type: "number", minimum: 2 },
      sure: { type: "boolean" },
      tags: { type: "array", items: { type: "string", minLength: 2 }, maxItems: 3 },
      nested: { $ref: "#/$defs/nested" },
      nothing: { type: ["null", "string"] },
      either: { anyOf: [{ const: 7 }, { type: "string" }] },
    },
    $defs: { nested: { type: "object", properties: { count: { type: "integer" } } } },
  };
  const { last } = await play([user("run `x`")], [{ status: "done", exitCode: 0, text: "y" }], {
    outputSchema,
  });
  expect(JSON.parse(last)).toEqual({
    answer: "`x` ended ",
    size: "small",
    score: 2,
    sure: true,
    tags: ["`x` ended with exit code 0 and printed:\n\n```\ny\n```"],
    nested: { count: 0 },
    nothing: null,
    either: 7,
  });
});

test("a schema that asks for endlessly much gets a value that is bounded", async () => {
  const self = { $ref: "#" };
  const properties = {
    ...Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`p${index}`, self])),
    list: { type: "array", minItems: 1e9, items: { type: "string", maxLength: 1 } },
    text: { type: "string", minLength: 1e9 },
  };
  const parts = await ask([user("hello")], { outputSchema: { type: "object", properties } });
  expect(text(parts).length).toBeLessThan(50_000_000);
});

test("an answer as JSON without a schema is still JSON", async () => {
  expect(JSON.parse(text(await ask([user("answer as JSON: who are you?")])))).toEqual({
    answer: expect.stringContaining("offline model"),
  });
});

test("a failure is a failure, and an unknown request gets an honest answer with the way to a real model", async () => {
  await expect(ask([user("fail with no luck")])).rejects.toThrow("The offline model failed: no luck");
  const answer = text(await ask([user("Write me a compiler")]));
  expect(answer).toContain("I follow fixed rules");
  expect(answer).toContain("Ollama");
});

test("words come one by one, and the same request always gets the same parts", async () => {
  const first = await ask([user("hello")]);
  expect(first.filter((part) => part.type === "text-delta").length).toBeGreaterThan(20);
  expect(await ask([user("hello")])).toEqual(first);
});

test("counting stops when it is told to", async () => {
  const stop = new AbortController();
  const stream = new OfflineModel().stream({ ...REQUEST, messages: [user("count to 1000000")] }, stop.signal);
  let seen = "";
  for await (const part of stream) {
    if (part.type === "text-delta") seen += part.text;
    if (seen.includes("7 ")) stop.abort();
  }
  expect(seen).toBe("1 2 3 4 5 6 7 ");
});
