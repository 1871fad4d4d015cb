import type { FileUpdateChange, Item, ThreadEvent, ThreadItem } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { commandFields, DeclinedItems, isShown, itemOf } from "./items.ts";

describe("a command", () => {
  test.each([
    ["ls", "/bin/bash -lc ls"],
    ["touch a && ls", "/bin/bash -lc 'touch a && ls'"],
    ["echo 'a b'", `/bin/bash -lc "echo 'a b'"`],
    [`echo '$HOME' "x"`, `/bin/bash -lc 'echo '\\''$HOME'\\'' "x"'`],
    ["", "/bin/bash -lc ''"],
  ])("%j is shown as a shell line", (script, line) => {
    expect(commandFields(script, "/").command).toBe(line);
  });
});

describe("a file change", () => {
  const CHANGES: readonly (readonly [string, FileUpdateChange, object])[] = [
    [
      "of a new file is its text",
      { path: "a", kind: "add", diff: "--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+one\n++two\n" },
      { path: "a", kind: { type: "add" }, diff: "one\n+two\n" },
    ],
    [
      "of a file without a newline at its end has none",
      {
        path: "a",
        kind: "delete",
        diff: "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n\\ No newline at end of file\n",
      },
      { path: "a", kind: { type: "delete" }, diff: "one" },
    ],
    [
      "that moves a file has its hunks and its new path",
      { path: "a", kind: "modify", diff: "--- a/a\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n", movePath: "b" },
      { path: "a", kind: { type: "update", move_path: "b" }, diff: "@@ -1 +1 @@\n-x\n+y\n" },
    ],
    [
      "without hunks is sent as it is",
      { path: "a", kind: "modify", diff: "binary" },
      { path: "a", kind: { type: "update", move_path: null }, diff: "binary" },
    ],
  ];
  test.each(CHANGES)("%s", (_name, change, expected) => {
    const item: ThreadItem = { type: "fileChange", id: "f", changes: [change], status: "completed" };
    expect(itemOf(item)).toMatchObject({ changes: [expected] });
  });
});

describe("an item", () => {
  test("[S3-67] [S3-75] [S3-76] of a command has no exit code and no output before its end", () => {
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
  ] as const)("of a command with %j has the source %s", (given, source) => {
    const item: ThreadItem = {
      ...{ type: "commandExecution", id: "c", command: "ls", cwd: "/w", status: "completed" },
      ...given,
    };
    expect(itemOf(item)).toMatchObject({ source });
  });

  test("of an agent's own type is not shown, and neither is an empty message", () => {
    expect(itemOf({ type: "codex/sleep", id: "s" })).toBeUndefined();
    expect(itemOf({ type: "userMessage", id: "u", content: [{ type: "text", text: "" }] })).toBeUndefined();
  });

  test("of a declined tool call has failed", () => {
    const item: ThreadItem = { type: "toolCall", id: "t", tool: "x", status: "declined", error: "no" };
    expect(itemOf(item)).toMatchObject({
      type: "dynamicToolCall",
      status: "failed",
      success: false,
      contentItems: [{ type: "inputText", text: "Declined.\nno" }],
    });
  });

  test("of a command names the connections that were refused, unless its output does", () => {
    const refused = { host: "a.example", port: 443, allowed: false, reason: "it was declined" };
    const connections = [refused, { host: "b.example", port: 80, allowed: true }];
    const ran = { type: "commandExecution", id: "c", command: "curl", cwd: "/w", connections } as const;
    const line = "Flint refused the connection to a.example:443: it was declined.";
    const output = (aggregatedOutput?: string) =>
      itemOf({ ...ran, status: "failed", ...(aggregatedOutput === undefined ? {} : { aggregatedOutput }) });
    expect(output()).toMatchObject({ aggregatedOutput: `${line}\n` });
    expect(output("")).toMatchObject({ aggregatedOutput: `${line}\n` });
    expect(output("so far")).toMatchObject({ aggregatedOutput: `so far\n${line}\n` });
    expect(output(`(${line})`)).toMatchObject({ aggregatedOutput: `(${line})` });
  });

  test("that was not approved is declined, also if the answer interrupted its turn", () => {
    const declined = new DeclinedItems();
    const ofTurn = { threadId: "t", turnId: "u" };
    const item: ThreadItem = {
      type: "commandExecution",
      id: "c",
      command: "ls",
      cwd: "/w",
      status: "failed",
    };
    const completed: ThreadEvent = { type: "item/completed", data: { ...ofTurn, item }, at: 1 };
    expect(declined.apply(completed)).toBe(completed);
    const resolution = { decision: { outcome: "cancel", scope: "once" }, by: "client" } as const;
    declined.apply({
      type: "approval/resolved",
      data: { ...ofTurn, approvalId: "a", itemId: "c", resolution },
      at: 1,
    });
    expect(declined.apply(completed).data).toMatchObject({ item: { status: "declined" } });
    const connections = [{ host: "a.example", port: 443, allowed: false }];
    const ran: ThreadEvent = { ...completed, data: { ...ofTurn, item: { ...item, connections } } };
    expect(declined.apply(ran)).toBe(ran);
  });
});

function toolCall(tool: string): Item<"toolCall"> {
  return { type: "toolCall", id: "i", tool, status: "inProgress" };
}

// The question itself is a request, and a client would show it twice.
test.each(["ask_user", "AskUserQuestion"])("the tool %s, which asks the user, is not shown", (tool) => {
  expect(isShown(toolCall(tool))).toBe(false);
});

test("other tools are shown, and so is a plan that is text", () => {
  expect(isShown(toolCall("web_search"))).toBe(true);
  expect(isShown({ type: "plan", id: "i", text: "First this, then that." })).toBe(true);
  expect(isShown({ type: "plan", id: "i", text: "", entries: [] })).toBe(false);
});
