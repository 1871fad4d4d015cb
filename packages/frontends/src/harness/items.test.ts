import { HARNESS_ITEMS, type HarnessItem, ITEMS, type ThreadItem } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { artifacts, completedItems, startedItems } from "./items.ts";

const ofTurn = { threadId: "t1", turnId: "u1" };

function item(type: HarnessItem["type"], data: object, itemId = "i1"): HarnessItem {
  return { itemId, ...ofTurn, type, data: { ...data } };
}

const changes = [
  { path: "/repo/new.ts", kind: "add", diff: "+1" },
  { path: "/repo/old.ts", kind: "delete", diff: "-1" },
  { path: "/repo/a.ts", kind: "modify", diff: "-1\n+2", movePath: "/repo/b.ts" },
] as const;

type Row = readonly [name: string, flint: ThreadItem, harness: HarnessItem];

const ROWS: readonly Row[] = [
  [
    "a user message is a user_message with its text and files",
    {
      type: "userMessage",
      id: "i1",
      clientId: "c1",
      content: [
        { type: "text", text: "Look at this" },
        { type: "localImage", path: "/tmp/a.png" },
        { type: "mention", name: "main", path: "src/main.ts" },
      ],
    },
    item("user_message", {
      text: "Look at this\n[image /tmp/a.png]\n@src/main.ts",
      clientId: "c1",
      content: [
        { type: "text", text: "Look at this" },
        { type: "localImage", path: "/tmp/a.png" },
        { type: "mention", name: "main", path: "src/main.ts" },
      ],
    }),
  ],
  [
    "an agent message is an assistant_message with text",
    { type: "agentMessage", id: "i1", text: "Hello", partial: true },
    item("assistant_message", { text: "Hello", partial: true }),
  ],
  [
    "reasoning is an assistant_message with reasoning",
    { type: "reasoning", id: "i1", content: "Hm.", summary: "Thinks" },
    item("assistant_message", { reasoning: "Hm.", summary: "Thinks" }),
  ],
  [
    "reasoning that is only summarised still shows that it is reasoning",
    { type: "reasoning", id: "i1", summary: "Thinks" },
    item("assistant_message", { reasoning: "", summary: "Thinks" }),
  ],
  [
    "a file change is a tool_exec with its diffs",
    { type: "fileChange", id: "i1", changes: [...changes], status: "declined" },
    item("tool_exec", { kind: "fileChange", tool: "edit", changes, status: "declined" }),
  ],
  [
    "a call of an MCP tool is a tool_exec",
    {
      type: "mcpToolCall",
      id: "i1",
      server: "docs",
      tool: "find",
      arguments: { q: "x" },
      status: "failed",
      error: "no such page",
    },
    item("tool_exec", {
      kind: "mcpToolCall",
      server: "docs",
      tool: "find",
      arguments: { q: "x" },
      status: "failed",
      error: "no such page",
    }),
  ],
  [
    "a call of any other tool is a tool_exec",
    { type: "toolCall", id: "i1", tool: "read", title: "Read a.ts", status: "completed", result: ["1"] },
    item("tool_exec", {
      kind: "toolCall",
      tool: "read",
      title: "Read a.ts",
      status: "completed",
      result: ["1"],
    }),
  ],
  [
    "a web search is a tool_exec",
    { type: "webSearch", id: "i1", query: "json lines" },
    item("tool_exec", { kind: "webSearch", tool: "web_search", query: "json lines" }),
  ],
  [
    "a plan is a tool_exec",
    { type: "plan", id: "i1", text: "1. Test", entries: [{ step: "Test", status: "pending" }] },
    item("tool_exec", {
      kind: "plan",
      tool: "plan",
      text: "1. Test",
      entries: [{ step: "Test", status: "pending" }],
    }),
  ],
  [
    "the begin of a review is a tool_exec",
    { type: "enteredReviewMode", id: "i1", review: "my changes" },
    item("tool_exec", { kind: "enteredReviewMode", tool: "review", review: "my changes" }),
  ],
  [
    "the end of a review is a tool_exec",
    { type: "exitedReviewMode", id: "i1", review: "Looks good" },
    item("tool_exec", { kind: "exitedReviewMode", tool: "review", review: "Looks good" }),
  ],
  [
    "a compaction of the context is a tool_exec",
    { type: "contextCompaction", id: "i1", summary: "So far" },
    item("tool_exec", { kind: "contextCompaction", tool: "compact", summary: "So far" }),
  ],
  [
    "an agent handoff is a tool_exec",
    { type: "agentHandoff", id: "i1", fromAgent: "claude", toAgent: "codex", missedTurns: 2 },
    item("tool_exec", {
      kind: "agentHandoff",
      tool: "handoff",
      fromAgent: "claude",
      toAgent: "codex",
      missedTurns: 2,
    }),
  ],
  [
    "a message of a sub-agent is a tool_exec",
    { type: "subAgentMessage", id: "i1", parentItemId: "i0", text: "Found it." },
    item("tool_exec", { kind: "subAgentMessage", tool: "sub_agent", parentItemId: "i0", text: "Found it." }),
  ],
  [
    "a hook is a tool_exec",
    { type: "hookRun", id: "i1", event: "Stop", status: "completed" },
    item("tool_exec", { kind: "hookRun", tool: "hook", event: "Stop", status: "completed" }),
  ],
  [
    "an item that only the agent knows is a tool_exec named by its type",
    extension({ type: "imageView", id: "i1", path: "/tmp/a.png" }),
    item("tool_exec", { kind: "imageView", tool: "imageView", path: "/tmp/a.png" }),
  ],
  [
    "an item that only the agent knows may name its tool itself",
    extension({ type: "browserStep", id: "i1", tool: "click", target: "OK" }),
    item("tool_exec", { kind: "browserStep", tool: "click", target: "OK" }),
  ],
];

/** Extensions carry fields that no type lists. */
function extension(fields: { type: string; id: string; [field: string]: unknown }): ThreadItem {
  return fields;
}

describe("an item of Flint on the harness wire", () => {
  test.each(ROWS)("%s", (_name, flint, harness) => {
    expect(startedItems(ofTurn, flint)).toStrictEqual([harness]);
    expect(completedItems(ofTurn, flint)).toStrictEqual([harness]);
  });

  test("every known item type has its row", () => {
    const covered = new Set([...ROWS.map(([, flint]) => flint.type), "commandExecution"]);
    expect(Object.keys(ITEMS).filter((type) => !covered.has(type))).toEqual([]);
  });

  test("its data fits the table of item types", () => {
    for (const [, , { type, data }] of ROWS) {
      expect(HARNESS_ITEMS[type].data.safeParse(data)).toEqual({ success: true, data });
    }
  });
});

describe("a command", () => {
  const command = {
    type: "commandExecution",
    id: "i1",
    command: "npm test",
    cwd: "/repo",
    status: "completed",
    exitCode: 1,
    aggregatedOutput: "1 failed\n",
    omittedOutputBytes: 7,
    durationMs: 12,
  } as const;
  const exec = item("tool_exec", {
    kind: "commandExecution",
    tool: "bash",
    command: "npm test",
    cwd: "/repo",
    status: "completed",
    exitCode: 1,
    durationMs: 12,
    logItemId: "i1.log",
  });
  const log = item("tool_log", { toolItemId: "i1", output: "1 failed\n", omittedOutputBytes: 7 }, "i1.log");

  test("is a tool_exec, and its output a tool_log that ends before it [S1-22, S1-23]", () => {
    expect(startedItems(ofTurn, command)).toStrictEqual([exec, log]);
    expect(completedItems(ofTurn, command)).toStrictEqual([log, exec]);
  });

  test("has an empty log while it has no output [S1-23]", () => {
    const { aggregatedOutput: _output, omittedOutputBytes: _omitted, ...silent } = command;
    const empty = item("tool_log", { toolItemId: "i1", output: "" }, "i1.log");
    expect(startedItems(ofTurn, silent)).toStrictEqual([exec, empty]);
  });
});

describe("the artifacts of a file change", () => {
  test("are the files that it added or modified, at their new paths [S1-25]", () => {
    const change: ThreadItem = {
      type: "fileChange",
      id: "i1",
      changes: [...changes],
      status: "completed",
    };
    expect(artifacts(ofTurn, change)).toStrictEqual([
      item("artifact", { toolItemId: "i1", path: "/repo/new.ts", change: "add" }, "i1.artifact-1"),
      item("artifact", { toolItemId: "i1", path: "/repo/b.ts", change: "modify" }, "i1.artifact-3"),
    ]);
  });

  test.each(["inProgress", "failed", "declined"] as const)("are none when it is %s [S1-25]", (status) => {
    expect(artifacts(ofTurn, { type: "fileChange", id: "i1", changes: [...changes], status })).toEqual([]);
  });
});
