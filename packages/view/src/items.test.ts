import type { Item, ItemType, ThreadItem } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { valueWords } from "./describe.ts";
import { activityOf, rowOf, rowsOf } from "./items.ts";
import { spanText } from "./row.ts";

/** One item of every type; the compiler names a type that is missing. */
const EXAMPLES: { readonly [Type in ItemType]: Item<Type> } = {
  userMessage: { type: "userMessage", id: "1", content: [{ type: "text", text: "fix it" }] },
  agentMessage: { type: "agentMessage", id: "2", text: "Done." },
  reasoning: { type: "reasoning", id: "3", content: "Hmm." },
  commandExecution: {
    type: "commandExecution",
    id: "4",
    command: "npm test",
    cwd: "/repo",
    status: "completed",
    exitCode: 1,
    aggregatedOutput: "1 failed\n",
    durationMs: 1200,
  },
  fileChange: {
    type: "fileChange",
    id: "5",
    status: "declined",
    changes: [
      { path: "/repo/a.ts", kind: "modify", diff: "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n" },
      { path: "/repo/b.ts", kind: "add", diff: "+z\n" },
    ],
  },
  mcpToolCall: {
    type: "mcpToolCall",
    id: "6",
    server: "web",
    tool: "get",
    arguments: { url: "x" },
    status: "failed",
    error: "404",
  },
  toolCall: { type: "toolCall", id: "7", tool: "read", title: "Read a.ts", status: "inProgress" },
  webSearch: { type: "webSearch", id: "8", query: "flint" },
  plan: { type: "plan", id: "9", text: "", entries: [{ step: "look", status: "completed" }] },
  enteredReviewMode: { type: "enteredReviewMode", id: "10", review: "main" },
  exitedReviewMode: { type: "exitedReviewMode", id: "11", review: "Looks good." },
  contextCompaction: { type: "contextCompaction", id: "12" },
  agentHandoff: { type: "agentHandoff", id: "13", fromAgent: "codex", toAgent: "claude", missedTurns: 2 },
  subAgentMessage: { type: "subAgentMessage", id: "14", parentItemId: "7", text: "Found it." },
  hookRun: {
    type: "hookRun",
    id: "15",
    event: "PreToolUse",
    status: "blocked",
    output: "Not now.",
    exitCode: 2,
  },
};

const line = (item: ThreadItem) => {
  const { family, status, title, outcome, body } = rowOf(item);
  const end = outcome === undefined ? "" : ` (${outcome})`;
  return `${family} ${status}: ${spanText(title)}${end} [${body.map(({ kind }) => kind).join(" ")}]`;
};

describe("rowOf", () => {
  test("has a row for every item type", () => {
    expect(Object.values(EXAMPLES).map(line)).toEqual([
      "user completed:  [text]",
      "message completed:  [markdown]",
      "thought completed:  [markdown]",
      "command failed: npm test (exit 1) [output]",
      "change declined: Change /repo/a.ts and 1 more (declined) [diff diff]",
      "tool failed: web.get (failed) [json error]",
      "tool inProgress: Read a.ts []",
      "search completed: Web search: flint []",
      "plan completed: Plan [plan]",
      "review completed: Review: main []",
      "review completed: Review finished [markdown]",
      "notice completed: Context compacted []",
      "notice completed: claude continues in place of codex []",
      "notice completed:  [markdown]",
      "notice failed: Hook PreToolUse (blocked) [text]",
    ]);
  });

  test.each([
    ["inProgress", undefined, "command inProgress: make []"],
    ["completed", 0, "command completed: make (exit 0) []"],
    ["completed", 2, "command failed: make (exit 2) []"],
    ["failed", undefined, "command failed: make (failed) []"],
    ["declined", undefined, "command declined: make (declined) []"],
  ] as const)("shows a command that is %s with exit code %s", (status, exitCode, expected) => {
    const command = { type: "commandExecution", id: "c", command: "make", cwd: "/", status } as const;
    expect(line(exitCode === undefined ? command : { ...command, exitCode })).toBe(expected);
  });

  test("shows an item of an unknown type with its id and its text", () => {
    const item = { type: "hologram", id: "h", beam: "wide", size: 3 };
    expect(line(item)).toBe("unknown completed: hologram h wide []");
  });

  test("counts the lines of a diff and drops its header", () => {
    expect(rowOf(EXAMPLES.fileChange).body[0]).toMatchObject({
      lines: [
        { kind: "hunk", text: "@@ -1 +1 @@" },
        { kind: "removed", text: "-x" },
        { kind: "added", text: "+y" },
      ],
      added: 1,
      removed: 1,
    });
  });

  test("keeps text as the agent sent it, and marks what must be shown exactly", () => {
    const command = { ...EXAMPLES.commandExecution, command: "rm\u00a0-rf \u202e/" };
    expect(rowOf(command).title).toEqual([{ text: "rm\u00a0-rf \u202e/", emphasis: "strong", exact: true }]);
  });

  test("gives the same row for the same item, and a new one for a changed item", () => {
    const item = EXAMPLES.commandExecution;
    expect(rowOf(item)).toBe(rowOf(item));
    expect(rowOf({ ...item })).not.toBe(rowOf(item));
  });
});

test("rowsOf gives the rows of all turns in order", () => {
  const turns = [
    { id: "t1", status: "completed" as const, items: [EXAMPLES.userMessage, EXAMPLES.agentMessage] },
    { id: "t2", status: "completed" as const, items: [EXAMPLES.webSearch] },
  ];
  expect(rowsOf(turns).map(({ key }) => key)).toEqual(["1", "2", "8"]);
  expect(rowsOf(turns)[2]).toBe(rowOf(EXAMPLES.webSearch));
});

test("every item type has an activity", () => {
  for (const item of Object.values(EXAMPLES)) expect(activityOf(item)).toMatch(/^[A-Z]/);
  expect(activityOf({ type: "hologram", id: "h" })).toBe("Working");
});

test("shows the arguments of a tool as words", () => {
  expect(valueWords({ path: "notes.txt", lines: 3, edits: [{ old: "a", new: "b" }] })).toBe(
    "path: notes.txt, lines: 3, edits: ((old: a, new: b))",
  );
  expect(valueWords(["a", null])).toBe("a, null");
});
