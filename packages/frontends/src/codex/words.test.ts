import type { FileUpdateChange, ThreadEvent, ThreadItem } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { ApprovalWords } from "./approval-words.ts";
import { fileChangeOf } from "./file-diff.ts";
import { HeldUsage } from "./held-usage.ts";
import { itemOf } from "./items.ts";
import { approvalPolicyFrom, codexApprovalPolicy } from "./policies.ts";
import { RefusedItems } from "./refused-items.ts";
import { shellLine } from "./shell-line.ts";
import { titleAnswer, wantsTitle } from "./title.ts";
import { ToldStatuses } from "./told-statuses.ts";

describe("a command", () => {
  test.each([
    ["ls", "/bin/bash -lc ls"],
    ["touch a && ls", "/bin/bash -lc 'touch a && ls'"],
    ["echo 'a b'", `/bin/bash -lc "echo 'a b'"`],
    [`echo '$HOME' "x"`, `/bin/bash -lc 'echo '\\''$HOME'\\'' "x"'`],
    ["", "/bin/bash -lc ''"],
  ])("%j is shown as a shell would read it", (script, line) => {
    expect(shellLine(script)).toBe(line);
  });
});

describe("a change of a file", () => {
  const changes: readonly (readonly [string, FileUpdateChange, object])[] = [
    [
      "that is new is its text",
      { path: "a", kind: "add", diff: "--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+one\n++two\n" },
      { path: "a", kind: { type: "add" }, diff: "one\n+two\n" },
    ],
    [
      "that has no newline at its end has none here",
      {
        path: "a",
        kind: "delete",
        diff: "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n\\ No newline at end of file\n",
      },
      { path: "a", kind: { type: "delete" }, diff: "one" },
    ],
    [
      "that moves has its hunks and its new name",
      { path: "a", kind: "modify", diff: "--- a/a\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n", movePath: "b" },
      { path: "a", kind: { type: "update", move_path: "b" }, diff: "@@ -1 +1 @@\n-x\n+y\n" },
    ],
    [
      "that has no hunks is told as it is",
      { path: "a", kind: "modify", diff: "binary" },
      { path: "a", kind: { type: "update", move_path: null }, diff: "binary" },
    ],
  ];
  test.each(changes)("%s", (_name, change, told) => {
    expect(fileChangeOf(change)).toEqual(told);
  });
});

describe("an item", () => {
  test("[S3-67] [S3-75] [S3-76] that is a command has no exit code and no output before its end", () => {
    const item: ThreadItem = {
      type: "commandExecution",
      id: "c",
      command: "ls",
      cwd: "/w",
      status: "inProgress",
    };
    expect(itemOf(item)).toMatchObject({
      processId: null,
      aggregatedOutput: null,
      exitCode: null,
      durationMs: null,
    });
  });

  test.each([
    [{}, "agent"],
    [{ source: "agent" }, "agent"],
    [{ source: "userShell" }, "userShell"],
  ] as const)("that is a command with %j comes from %s", (given, source) => {
    const item: ThreadItem = {
      ...{ type: "commandExecution", id: "c", command: "ls", cwd: "/w", status: "completed" },
      ...given,
    };
    expect(itemOf(item)).toMatchObject({ source });
  });

  test("of an agent's own kind has no word here, and neither has a message that says nothing", () => {
    expect(itemOf({ type: "codex/sleep", id: "s" })).toBeUndefined();
    expect(itemOf({ type: "userMessage", id: "u", content: [{ type: "text", text: "" }] })).toBeUndefined();
  });

  test("that is a tool which was refused has failed", () => {
    const item: ThreadItem = { type: "toolCall", id: "t", tool: "x", status: "declined", error: "no" };
    expect(itemOf(item)).toMatchObject({
      type: "dynamicToolCall",
      status: "failed",
      success: false,
      contentItems: [{ type: "inputText", text: "no" }],
    });
  });

  test("that was not allowed is declined, also if its turn was stopped by the answer", () => {
    const refused = new RefusedItems();
    const ofTurn = { threadId: "t", turnId: "u" };
    const item: ThreadItem = {
      type: "commandExecution",
      id: "c",
      command: "ls",
      cwd: "/w",
      status: "failed",
    };
    const completed: ThreadEvent = { type: "item/completed", data: { ...ofTurn, item }, at: 1 };
    expect(refused.shown(completed)).toBe(completed);
    const resolution = { decision: { outcome: "cancel", scope: "once" }, by: "client" } as const;
    refused.shown({
      type: "approval/resolved",
      data: { ...ofTurn, approvalId: "a", itemId: "c", resolution },
      at: 1,
    });
    expect(refused.shown(completed).data).toMatchObject({ item: { status: "declined" } });
  });
});

describe("what a client was told", () => {
  const idle = { threadId: "t", status: { type: "idle" } };
  const active = { threadId: "t", status: { type: "active", activeFlags: [] } };
  const failed = { threadId: "t", status: { type: "systemError" } };

  test("is not told again, and a failure stays until the next turn", () => {
    const statuses = new ToldStatuses();
    const news = [idle, active, active, failed, idle, active, idle, idle].map((told) =>
      statuses.isNews(told),
    );
    expect(news).toEqual([false, true, false, true, false, true, true, false]);
  });

  test("of the tokens comes after what they were spent on", () => {
    const held = new HeldUsage();
    const ofTurn = { threadId: "t", turnId: "u" };
    const item: ThreadItem = { type: "agentMessage", id: "m", text: "" };
    const tokens = { inputTokens: 1, outputTokens: 1 };
    const usage: ThreadEvent = {
      type: "thread/tokenUsage/updated",
      data: { ...ofTurn, usage: tokens, last: tokens },
      at: 1,
    };
    const started: ThreadEvent = { type: "item/started", data: { ...ofTurn, item }, at: 1 };
    const completed: ThreadEvent = { type: "item/completed", data: { ...ofTurn, item }, at: 1 };
    const turn = { id: "u", status: "completed", items: [] } as const;
    const ended: ThreadEvent = {
      type: "turn/completed",
      data: { threadId: "t", turn: { ...turn, items: [] } },
      at: 1,
    };
    const told = [usage, started, completed, usage, started, usage, completed, usage, usage, ended];
    expect(told.flatMap((event) => held.inOrder(event)).map(({ type }) => type)).toEqual([
      ...["item/started", "item/completed", "thread/tokenUsage/updated", "item/started"],
      ...["item/completed", "thread/tokenUsage/updated", "thread/tokenUsage/updated", "turn/completed"],
    ]);
  });

  test("are not held back by what the client does not hear of, such as a list of tasks that stays open", () => {
    const held = new HeldUsage();
    const ofTurn = { threadId: "t", turnId: "u" };
    const tasks: ThreadItem = { type: "plan", id: "p", text: "", entries: [] };
    const message: ThreadItem = { type: "agentMessage", id: "m", text: "" };
    const tokens = { inputTokens: 1, outputTokens: 1 };
    const item = (type: "item/started" | "item/completed", shown: ThreadItem): ThreadEvent => ({
      ...{ type, data: { ...ofTurn, item: shown }, at: 1 },
    });
    const usage: ThreadEvent = {
      ...{ type: "thread/tokenUsage/updated", data: { ...ofTurn, usage: tokens, last: tokens }, at: 1 },
    };
    const before = [
      item("item/started", tasks),
      item("item/started", message),
      item("item/completed", message),
    ];
    for (const event of before) expect(held.inOrder(event)).toEqual([event]);
    expect(held.inOrder(usage)).toEqual([usage]);
  });
});

describe("a title", () => {
  const schema = (maxLength?: number) => ({
    type: "object",
    properties: { title: maxLength === undefined ? { type: "string" } : { type: "string", maxLength } },
  });

  test.each([
    ["Instructions.\n\nUser's first message:\nadd a lamp", undefined, "Add a lamp"],
    ["Instructions.\n\nUser prompt:\n**fix** `it` now!", undefined, "Fix it now"],
    ["Instructions.\n\nUser prompt:\nfix the lamp in the hall", 12, "Fix the lamp"],
    ["Instructions.\n\nUser prompt:\nunbreakable", 5, "Unbre"],
    ["", undefined, "Untitled"],
  ])("of %j with room for %j is %j", (prompt, maxLength, title) => {
    expect(JSON.parse(titleAnswer(prompt, schema(maxLength)))).toEqual({ title });
  });

  test("is wanted only where nothing else is", () => {
    expect(wantsTitle(schema())).toBe(true);
    const other = { type: "object", properties: { name: { type: "string" } } };
    expect(
      [undefined, null, {}, other, { properties: { title: { type: "number" } } }].map(wantsTitle),
    ).toEqual(Array(5).fill(false));
  });
});

test("who said when to be asked hears the same word again, until another policy holds", () => {
  const words = new ApprovalWords();
  expect(words.of("t", "unlessTrusted")).toBe("on-request");
  words.note("t", { approvalPolicy: "untrusted" });
  words.note("t", { approvalPolicy: null });
  expect(words.of("t", "unlessTrusted")).toBe("untrusted");
  expect(words.of("t", "never")).toBe("never");
  expect(codexApprovalPolicy("always")).toBe("untrusted");
});

test.each([
  ["untrusted", "always", "always"],
  ["on-request", "always", "unlessTrusted"],
  ["never", "always", "never"],
  ["untrusted", "unlessTrusted", "unlessTrusted"],
  ["on-request", "unlessTrusted", "unlessTrusted"],
  ["untrusted", "never", "unlessTrusted"],
  ["never", "never", "never"],
] as const)("the word %s while %s is in force means %s", (word, inForce, meant) => {
  expect(approvalPolicyFrom(word, inForce)).toBe(meant);
});
