import type { Message, ModelRequest } from "@flint/agent/model";
import { expect, test } from "vitest";
import { OfflineModel } from "./offline-model.ts";
import { ask, calls, done, play, REQUEST, SHELL, text, tool, user } from "./testing/offline-model.ts";

test("lists the folder with a read-only command", async () => {
  const listing = {
    status: "done" as const,
    exitCode: 0,
    text: ".git/\nREADME.md\npackage.json\nsrc/\nx.txt\n",
  };
  const { steps, last } = await play([user("what is in this folder?")], [listing]);
  expect(calls(steps[0] ?? [])).toMatchObject([{ tool: "shell", input: { command: "ls -p" } }]);
  expect(last).toBe(
    "This folder contains 2 folders and 3 files. Folders: .git/, src/. Files: README.md, package.json, x.txt.",
  );
});

test("reports an empty folder", async () => {
  const { last } = await play([user("list files")], [{ status: "done", exitCode: 0, text: "" }]);
  expect(last).toBe("This folder is empty.");
});

test("runs a command verbatim and reports its exit code and output", async () => {
  const result = { status: "failed" as const, exitCode: 3, text: "oh no\n" };
  const { steps, last } = await play([user("run `echo oh no; exit 3`")], [result]);
  expect(calls(steps[0] ?? [])).toMatchObject([{ input: { command: "echo oh no; exit 3" } }]);
  expect(last).toBe("`echo oh no; exit 3` ended with exit code 3 and printed:\n\n```\noh no\n```");
});

test("reports a declined command", async () => {
  const declined = { status: "declined" as const, text: "Too risky" };
  expect((await play([user("run `rm x`")], [declined])).last).toBe(
    "I did not run `rm x`, because it was declined. Too risky.",
  );
});

test("updates the plan before each step and at the end", async () => {
  const shown = done("");
  const { asked, last } = await play(
    [user("plan to list files and run `date`")],
    [shown, done("a\n"), shown, done("now\n"), shown],
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

test("uses the status names of Codex's plan tool", async () => {
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

test("asks a question with its options and repeats the answer", async () => {
  const { asked, last } = await play([user("ask me which colour: red or blue")], [done("red")]);
  const questions = [
    { id: "answer", question: "Which colour?", options: [{ label: "red" }, { label: "blue" }] },
  ];
  expect(asked).toEqual([["ask_user", { questions }]]);
  expect(last).toBe("You answered: red");
  const unanswered = await play([user("ask me for a number")], [{ status: "failed", text: "" }]);
  expect(unanswered.last).toBe("No one answered, so I stop here.");
  expect(text(await ask([user("ask me which colour: red or blue")], { tools: SHELL }))).toBe(
    "Which colour? red, blue",
  );
});

test("streams reasoning before the answer and counts it separately", async () => {
  const parts = await ask([user("think about nothing")]);
  const types = [...new Set(parts.map((part) => part.type))];
  expect(types).toEqual(["reasoning-delta", "text-delta", "usage", "finish"]);
  const usage = parts.find((part) => part.type === "usage");
  expect(usage).toMatchObject({ usage: { inputTokens: 5, thinkingTokens: expect.any(Number) } });
});

test("works on a request that was added while it worked", async () => {
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

test("does not repeat work that a summary removed from the conversation", async () => {
  const later: Message[] = [
    { role: "assistant", text: "", calls: [{ callId: "call_0_0_3", tool: "shell", input: {} }] },
    { role: "tool", callId: "call_0_0_3", tool: "shell", ...done("b\n") },
  ];
  const parts = await ask([user("plan to run `a` and run `b`"), ...later]);
  const plan = [{ status: "completed" }, { status: "completed" }];
  expect(calls(parts)).toMatchObject([{ tool: "update_plan", callId: "call_0_0_4", input: { plan } }]);
});

test("lists what was asked before in the thread", async () => {
  const earlier: Message[] = [user("list files"), { role: "assistant", text: "None.", calls: [] }];
  expect(text(await ask([...earlier, user("what did I ask before?")]))).toBe("You asked me:\n1. list files");
  expect(text(await ask([user("what did I ask before?")]))).toBe(
    "This is the first thing you ask me in this thread.",
  );
});

test("summarizes for a compaction, with an earlier summary", async () => {
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

test("reviews changes without letting the repository run anything", async () => {
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
});

test("quotes names of branches and commits in review commands", async () => {
  const command = async (review: ModelRequest["review"]) => {
    const [call] = calls(await ask([user("Review.")], { purpose: "review", review }));
    return call?.input.command;
  };
  expect(await command({ type: "baseBranch", branch: "--output=x'; rm y" })).toMatch(
    / --end-of-options '--output=x'\\''; rm y\.\.\.HEAD'$/,
  );
  expect(await command({ type: "commit", sha: "abc" })).toMatch(/ show .* --end-of-options 'abc'$/);
});

test("answers with JSON that fits the schema", async () => {
  const outputSchema = {
    type: "object",
    required: ["answer"],
    properties: {
      answer: { type: "string", maxLength: 10 },
      size: { enum: ["small", "large"] },
      score: { type: "number", minimum: 2 },
      sure: { type: "boolean" },
      tags: { type: "array", items: { type: "string" } },
      findings: { type: "array", items: { type: "object", properties: { what: { type: "string" } } } },
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
    findings: [],
    nested: { count: 0 },
    nothing: null,
    either: 7,
  });
});

test("bounds the value for a recursive schema", async () => {
  const child = { $ref: "#" };
  const outputSchema = { type: "object", properties: { left: child, right: child } };
  expect(text(await ask([user("hello")], { outputSchema })).length).toBeLessThan(10_000);
});

test("answers as JSON without a schema", async () => {
  expect(JSON.parse(text(await ask([user("answer as JSON: who are you?")])))).toEqual({
    answer: expect.stringContaining("offline model"),
  });
});

test("fails if asked to, and explains how to get a real model for an unknown request", async () => {
  await expect(ask([user("fail with no luck")])).rejects.toThrow("The offline model failed: no luck");
  const answer = text(await ask([user("Write me a compiler")]));
  expect(answer).toContain("I follow fixed rules");
  expect(answer).toContain("Ollama");
});

test("streams word by word, always the same for the same request", async () => {
  const first = await ask([user("hello")]);
  expect(first.filter((part) => part.type === "text-delta").length).toBeGreaterThan(20);
  expect(await ask([user("hello")])).toEqual(first);
});

test("stops counting when aborted", async () => {
  const stop = new AbortController();
  const stream = new OfflineModel().stream({ ...REQUEST, messages: [user("count to 1000000")] }, stop.signal);
  let seen = "";
  for await (const part of stream) {
    if (part.type === "text-delta") seen += part.text;
    if (seen.includes("7 ")) stop.abort();
  }
  expect(seen).toBe("1 2 3 4 5 6 7 ");
});
