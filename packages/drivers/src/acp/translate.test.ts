import type { DriverEvent } from "@flint/core/ports";
import { loadUnifiedDiff, type UnifiedDiff } from "@flint/host/files";
import { lifecycleFaults, streamFaults } from "@flint/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../shared/json.ts";
import { actionOf } from "./translate/tool-item.ts";
import { type AcpState, beginTurn, declineToolCall, endTurn, showToolCall, step } from "./translate.ts";

let diff: UnifiedDiff;
beforeAll(async () => {
  diff = await loadUnifiedDiff();
});

/** The events of a turn with these updates; every item has to be complete. */
function translate(updates: readonly JsonObject[]): DriverEvent[] {
  let state = beginTurn("turn", { cwd: "/repo", diff });
  const events: DriverEvent[] = [];
  for (const update of updates) {
    const [next, emitted] = step(state, update);
    state = next;
    events.push(...emitted);
  }
  events.push(...endTurn(state)[1]);
  expect(lifecycleFaults(events, true)).toEqual([]);
  expect(streamFaults(events)).toEqual([]);
  return events;
}

const chunk = (kind: string, text: string, messageId?: string): JsonObject => ({
  sessionUpdate: `agent_${kind}_chunk`,
  content: { type: "text", text },
  ...(messageId === undefined ? {} : { messageId }),
});
const call = (fields: JsonObject): JsonObject => ({
  sessionUpdate: "tool_call",
  toolCallId: "c/1",
  ...fields,
});
const update = (fields: JsonObject): JsonObject => ({ ...call(fields), sessionUpdate: "tool_call_update" });
const completed = (events: readonly DriverEvent[]) =>
  events.flatMap((event) => (event.type === "item/completed" ? [event.item] : []));

describe("text", () => {
  test("shows thoughts and messages as separate complete items", () => {
    const events = translate([chunk("thought", "Hm."), chunk("message", "Good "), chunk("message", "day.")]);
    expect(events).toEqual([
      { type: "item/started", item: { type: "reasoning", id: "turn-1", content: "" } },
      { type: "item/reasoning/textDelta", itemId: "turn-1", delta: "Hm." },
      { type: "item/completed", item: { type: "reasoning", id: "turn-1", content: "Hm." } },
      { type: "item/started", item: { type: "agentMessage", id: "turn-2", text: "" } },
      { type: "item/agentMessage/delta", itemId: "turn-2", delta: "Good " },
      { type: "item/agentMessage/delta", itemId: "turn-2", delta: "day." },
      { type: "item/completed", item: { type: "agentMessage", id: "turn-2", text: "Good day." } },
    ]);
  });

  test("starts another message for another message id", () => {
    const events = translate([chunk("message", "one", "a"), chunk("message", "two", "b")]);
    expect(completed(events)).toMatchObject([{ text: "one" }, { text: "two" }]);
  });
});

describe("a command", () => {
  test("is shown once it is known, with its output as OpenCode streams it", () => {
    const events = translate([
      call({ title: "bash", kind: "execute", status: "pending", rawInput: { cwd: "/repo/sub" } }),
      update({ status: "in_progress", rawInput: { command: "make", cwd: "/repo/sub" } }),
      update({ content: [{ type: "content", content: { type: "text", text: "one\n" } }] }),
      update({ status: "completed", rawOutput: { output: "one\ntwo\n", metadata: { exit: 0 } } }),
    ]);
    const item = { type: "commandExecution", id: "turn-1", command: "make", cwd: "/repo/sub" };
    expect(events).toEqual([
      { type: "item/started", item: { ...item, status: "inProgress" } },
      { type: "item/commandExecution/outputDelta", itemId: "turn-1", delta: "one\n" },
      { type: "item/commandExecution/outputDelta", itemId: "turn-1", delta: "two\n" },
      {
        type: "item/completed",
        item: { ...item, status: "completed", exitCode: 0, aggregatedOutput: "one\ntwo\n" },
      },
    ]);
  });

  test("has the output that Codex sends in _meta", () => {
    const events = translate([
      call({ title: "ls", kind: "execute", status: "in_progress", rawInput: { command: ["ls", "-l"] } }),
      update({ _meta: { terminal_output_delta: { data: "a.ts\n" } } }),
      update({ status: "failed", _meta: { terminal_exit: { exit_code: 2 } } }),
    ]);
    const end = { command: "ls -l", status: "failed", exitCode: 2, aggregatedOutput: "a.ts\n" };
    expect(completed(events)).toMatchObject([end]);
  });

  test("is recognized whatever kind Codex gives it", () => {
    const read = { title: "List /repo", kind: "search", name: "exec_command", status: "in_progress" };
    const events = translate([
      call({ ...read, rawInput: { command: "ls", cwd: "/repo" } }),
      update({ status: "completed", rawOutput: { exit_code: 0 } }),
    ]);
    expect(completed(events)).toMatchObject([{ type: "commandExecution", command: "ls", exitCode: 0 }]);
  });

  test("does not show Claude's description or code fence as output", () => {
    const described = [{ type: "content", content: { type: "text", text: "Lists files" } }];
    const fenced = [{ type: "content", content: { type: "text", text: "```console\na.ts\n```" } }];
    const events = translate([
      call({ title: "Terminal", kind: "execute", status: "pending", rawInput: {} }),
      update({ rawInput: { command: "ls" }, content: described }),
      update({ status: "completed", content: fenced }),
    ]);
    expect(completed(events)).toMatchObject([{ command: "ls", aggregatedOutput: "a.ts" }]);
  });
});

describe("a file change", () => {
  test("is shown with the exact diffs of all its files", () => {
    const content = [
      { type: "diff", path: "/repo/a.txt", oldText: "one\ntwo\n", newText: "one\n2\n" },
      { type: "diff", path: "/repo/b.txt", oldText: null, newText: "new\n" },
      { type: "diff", path: "c.txt", oldText: "old\n", newText: "", _meta: { kind: "delete" } },
    ];
    const events = translate([call({ title: "Edit", kind: "edit", status: "completed", content })]);
    const changes = [
      {
        path: "/repo/a.txt",
        kind: "modify",
        diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
      },
      { path: "/repo/b.txt", kind: "add", diff: "--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1,1 @@\n+new\n" },
      { path: "/repo/c.txt", kind: "delete", diff: "--- a/c.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-old\n" },
    ];
    expect(completed(events)).toEqual([{ type: "fileChange", id: "turn-1", changes, status: "completed" }]);
  });

  test("grows with the updates of an agent that is still writing it [S0-58]", () => {
    const content = (newText: string) => [{ type: "diff", path: "/repo/a.txt", oldText: null, newText }];
    const edit = { title: "Edit", kind: "edit", status: "in_progress" };
    const events = translate([
      call({ ...edit, content: content("one\n") }),
      update({ content: content("one\ntwo\n") }),
      update({ title: "Edit a.txt" }),
      update({ status: "completed" }),
    ]);
    const updates = events.filter(({ type }) => type === "item/fileChange/patchUpdated");
    expect(updates).toMatchObject([
      { itemId: "turn-1", changes: [{ diff: expect.stringContaining("+two") }] },
    ]);
    expect(completed(events)).toMatchObject([{ changes: [{ diff: expect.stringContaining("+two") }] }]);
  });

  test("keeps its diffs when the agent ends with a sentence only, as OpenCode does", () => {
    const content = [{ type: "diff", path: "/repo/a.txt", oldText: "", newText: "new\n" }];
    const done = [{ type: "content", content: { type: "text", text: "Wrote it." } }];
    const events = translate([
      call({ title: "write", kind: "edit", status: "pending", content }),
      update({ status: "completed", content: done }),
    ]);
    const change = { path: "/repo/a.txt", kind: "add", diff: expect.stringContaining("+new") };
    expect(completed(events)).toMatchObject([{ changes: [change], output: "Wrote it." }]);
  });

  test("may be a unified diff in the input, or just the path of a deletion", () => {
    const input = { filepath: "/repo/a.txt", diff: "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n" };
    expect(
      completed(translate([call({ title: "write", kind: "edit", status: "completed", rawInput: input })])),
    ).toMatchObject([{ type: "fileChange", changes: [{ path: "/repo/a.txt", diff: input.diff }] }]);
    const locations = [{ path: "/repo/gone.txt" }];
    expect(
      completed(translate([call({ title: "rm", kind: "delete", status: "completed", locations })])),
    ).toMatchObject([{ type: "fileChange", changes: [{ path: "/repo/gone.txt", kind: "delete" }] }]);
  });
});

describe("other tools", () => {
  test("shows reading and thinking as tool calls with arguments and result", () => {
    const content = [{ type: "content", content: { type: "text", text: "the text" } }];
    const rawInput = { path: "a.txt" };
    const events = translate([
      call({ title: "Read a.txt", name: "Read", kind: "read", status: "in_progress", rawInput }),
      update({ status: "completed", content }),
    ]);
    const item = { type: "toolCall", id: "turn-1", tool: "Read", title: "Read a.txt", arguments: rawInput };
    expect(completed(events)).toEqual([{ ...item, status: "completed", result: "the text" }]);
  });

  test("shows a web search and an MCP tool call as their own items", () => {
    const events = translate([
      call({ title: "Web search", kind: "fetch", status: "completed", rawInput: { query: "flint" } }),
      { ...call({ name: "mcp__docs__find", kind: "other", rawInput: { q: 1 } }), toolCallId: "2" },
      { ...update({ status: "failed", rawOutput: "no such page" }), toolCallId: "2" },
    ]);
    expect(completed(events)).toEqual([
      { type: "webSearch", id: "turn-1", query: "flint" },
      {
        ...{ type: "mcpToolCall", id: "turn-2", server: "docs", tool: "find", arguments: { q: 1 } },
        ...{ status: "failed", error: "no such page" },
      },
    ]);
  });

  test("ignores updates after the end of a call, and accepts any id", () => {
    const events = translate([
      call({ title: "x", kind: "think", status: "completed" }),
      update({ status: "in_progress" }),
      update({ status: "completed" }),
    ]);
    expect(events.map((event) => event.type)).toEqual(["item/started", "item/completed"]);
  });
});

describe("a call that needs approval", () => {
  function ask(...updates: readonly JsonObject[]): { state: AcpState; events: readonly DriverEvent[] } {
    const [asked, ...rest] = updates.toReversed();
    let state = beginTurn("turn", { cwd: "/repo", diff });
    for (const each of rest.toReversed()) [state] = step(state, each);
    const [shown, events] = showToolCall(state, asked ?? {});
    return { state: shown, events };
  }
  const action = ({ state }: { state: AcpState }) => {
    const track = [...state.tools.values()].at(-1);
    return track === undefined ? undefined : actionOf(track.itemId, track.call, state.context);
  };

  test("is shown from its request if it was not announced, as with Gemini", () => {
    const toolCall = { toolCallId: "g", title: "touch a", kind: "execute", status: "pending", content: [] };
    const asked = ask(toolCall);
    expect(asked.events).toMatchObject([{ type: "item/started", item: { type: "commandExecution" } }]);
    expect(action(asked)).toEqual({ kind: "command", itemId: "turn-1", command: "touch a", cwd: "/repo" });
  });

  test("keeps the diff from before the request, as with Codex", () => {
    const content = [{ type: "diff", path: "/repo/a", newText: "x\n" }];
    const asked = ask(call({ kind: "edit", status: "in_progress", content }), {
      toolCallId: "c/1",
      kind: "edit",
      locations: [{ path: "/repo/a" }],
    });
    expect(action(asked)).toMatchObject({
      kind: "fileChange",
      changes: [{ path: "/repo/a", kind: "add", diff: expect.stringContaining("+x") }],
    });
  });

  test("without a diff is described by its whole input", () => {
    const rawInput = { file_path: "/repo/a", content: "x" };
    const asked = ask({ toolCallId: "w", title: "Write a", name: "Write", kind: "edit", rawInput });
    expect(action(asked)).toEqual({
      kind: "tool",
      itemId: "turn-1",
      tool: "Write",
      arguments: rawInput,
    });
  });

  test("ends as declined, whatever status the agent gives it", () => {
    const { state } = ask({ toolCallId: "d", title: "rm", kind: "execute", rawInput: { command: "rm a" } });
    const declined = declineToolCall(state, "d");
    const [, emitted] = step(declined, {
      sessionUpdate: "tool_call_update",
      toolCallId: "d",
      status: "failed",
    });
    expect(completed(emitted)).toMatchObject([{ command: "rm a", status: "declined" }]);
    expect(completed(endTurn(declined)[1])).toMatchObject([{ status: "declined" }]);
  });
});

describe("other updates", () => {
  test("shows a plan as one item that is updated as a whole", () => {
    const other = { content: "rest", priority: "urgent", status: "pending" };
    const entries = [{ content: "look", priority: "high", status: "in_progress" }, other];
    const done = [{ content: "look", priority: "high", status: "completed" }, other];
    const events = translate([
      { sessionUpdate: "plan", entries },
      { sessionUpdate: "plan", entries: done },
    ]);
    const rest = { step: "rest", status: "pending" };
    const [before, after] = [
      [{ step: "look", status: "inProgress", priority: "high" }, rest],
      [{ step: "look", status: "completed", priority: "high" }, rest],
    ];
    expect(events).toEqual([
      {
        type: "item/started",
        item: { type: "plan", id: "turn-1", text: "1. look\n2. rest", entries: before },
      },
      { type: "turn/plan/updated", explanation: "", plan: before },
      { type: "turn/plan/updated", explanation: "", plan: after },
      {
        type: "item/completed",
        item: { type: "plan", id: "turn-1", text: "1. look\n2. rest", entries: after },
      },
    ]);
  });

  test("shows a compaction with its summary, and reports a failed one", () => {
    const of = (fields: JsonObject) => ({ sessionUpdate: "compaction_update", compactionId: "k", ...fields });
    const events = translate([
      of({ status: "in_progress" }),
      { ...of({ content: { type: "text", text: "We " } }), sessionUpdate: "compaction_summary_chunk" },
      of({ status: "completed", summary: [{ type: "text", text: "We looked." }] }),
      { ...of({ status: "failed", error: "full" }), compactionId: "l" },
    ]);
    expect(completed(events)).toEqual([
      { type: "contextCompaction", id: "turn-1", summary: "We looked." },
      { type: "contextCompaction", id: "turn-2" },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "extension", method: "acp/compaction_update" });
  });

  test("passes protocol-specific and unknown updates on as they are", () => {
    const events = translate([
      { sessionUpdate: "notice", severity: "warning", title: "Careful" },
      { sessionUpdate: "hologram", depth: 3 },
      { depth: 4 },
      { sessionUpdate: "usage_update", used: 1, size: 2 },
      { sessionUpdate: "user_message_chunk", content: { type: "text", text: "your prompt" } },
    ]);
    expect(events).toEqual([
      { type: "warning", message: "Careful", reason: "agent" },
      { type: "extension", method: "acp/hologram", params: { depth: 3 } },
      { type: "extension", method: "acp/unknown_update", params: { depth: 4 } },
    ]);
  });

  test("ignores malformed fields", () => {
    const odd = [null, 5, "x", [], { a: 1 }];
    const kinds = ["agent_message_chunk", "tool_call", "tool_call_update", "plan", "compaction_update"];
    const fields = [
      "content",
      "toolCallId",
      "entries",
      "status",
      "kind",
      "locations",
      "compactionId",
      "_meta",
    ];
    const updates = kinds.flatMap((sessionUpdate) =>
      fields.flatMap((field) => odd.map((value) => ({ sessionUpdate, toolCallId: "t", [field]: value }))),
    );
    expect(() => translate(updates)).not.toThrow();
  });
});
