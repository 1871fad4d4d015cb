import { readFileSync } from "node:fs";
import type { DriverEvent, TurnOutcome } from "@flint/core/ports";
import type { TurnKind } from "@flint/protocol";
import { type CodexNotification, readCodexNotification } from "@flint/protocol/codex";
import { expectGolden, lifecycleFaults, streamFaults } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { adoptTurn, beginTurn, changesOf, step, type TranslateState } from "./translate.ts";

interface Translated {
  readonly events: DriverEvent[];
  readonly outcome: TurnOutcome | undefined;
  readonly state: TranslateState;
}

function translate(notifications: readonly CodexNotification[], begin: TranslateState): Translated {
  let state = begin;
  const events: DriverEvent[] = [];
  for (const notification of notifications) {
    const [next, emitted] = step(state, notification);
    state = next;
    events.push(...emitted);
  }
  return { events, outcome: state.outcome, state };
}

/** Returns the frames of a recorded turn of the real program. */
function recorded(name: string): CodexNotification[] {
  const lines = readFileSync(new URL(`./fixtures/${name}.frames.jsonl`, import.meta.url), "utf8").trim();
  return lines.split("\n").map((line) => {
    const { method, params } = JSON.parse(line);
    const read = readCodexNotification(method, params);
    if (read === undefined) throw new Error(`${method} is unknown`);
    return read;
  });
}

/** The id that the answer to the start of the turn has. */
function turnIdIn(frames: readonly CodexNotification[]): string {
  const last = frames.at(-1);
  if (last?.method !== "turn/completed") throw new Error("A recorded turn ends with its end.");
  return last.params.turn.id;
}

function kindOf(name: string): TurnKind {
  return name === "review" || name === "compact" ? name : "prompt";
}

describe("recorded from Codex 0.166.0", () => {
  test.each([
    ["text", "[S3-65] [S3-66] [S3-68] [S4-18] thinking and an answer, in pieces and whole"],
    ["command", "[S3-67] [S3-75] [S3-76] [S4-19] a command, its output and its exit code"],
    ["declined", "a command that was declined"],
    ["files", "[S4-10] files that are added, changed, deleted and renamed, with whole diffs"],
    ["mcp", "[S4-10] [S4-19] a call of an MCP tool"],
    ["retries", "[S4-10] a model that is busy, then breaks off, then answers"],
    ["refused", "a model that refuses"],
    ["interrupted", "a turn that is stopped"],
    ["review", "a review"],
    ["compact", "a compaction of the context"],
  ])("%s: %s", (name) => {
    const frames = recorded(name);
    const begin = adoptTurn(beginTurn("/workspace", kindOf(name), 0), turnIdIn(frames));
    const { events, outcome } = translate(frames, begin);
    expectGolden(new URL(`./fixtures/${name}.events.jsonl`, import.meta.url), [...events, { outcome }]);
    expect(lifecycleFaults(events, outcome?.status === "completed")).toEqual([]);
    expect(streamFaults(events)).toEqual([]);
  });
});

const TURN_IDS = { threadId: "thread", turnId: "turn" };

/** Translates single notifications in the turn `turn`. */
function translated(...notifications: readonly (readonly [string, object])[]): Translated {
  const read = notifications.map(([method, params]) => {
    const notification = readCodexNotification(method, { ...TURN_IDS, ...params });
    if (notification === undefined) throw new Error(`${method} is unknown`);
    return notification;
  });
  return translate(read, adoptTurn(beginTurn("/workspace", "prompt", 0), "turn"));
}

test("[S2-45] reports a rerouted model with both names and the reason", () => {
  const rerouted = { fromModel: "a", toModel: "b", reason: "highRiskCyberActivity" };
  expect(translated(["model/rerouted", rerouted]).events).toEqual([
    { type: "model/rerouted", fromModel: "codex/a", toModel: "codex/b", reason: "highRiskCyberActivity" },
  ]);
});

test("[S2-46] [S2-47] passes deprecation notices and config warnings on", () => {
  const notice = { summary: "Old key.", details: null };
  const detailed = { summary: "Unknown key.", details: "In line 3." };
  const { events } = translated(
    ["deprecationNotice", notice],
    ["configWarning", detailed],
    ["warning", { message: "Slow." }],
  );
  expect(events).toEqual([
    { type: "warning", message: "Old key.", reason: "deprecation" },
    { type: "warning", message: "Unknown key.", reason: "configuration", details: "In line 3." },
    { type: "warning", message: "Slow.", reason: "agent" },
  ]);
});

test("[S3-64] understands thread/started, whose thread the response has named before", () => {
  const thread = { id: "thread", preview: "", cwd: "/workspace", turns: [] };
  expect(translated(["thread/started", { thread }]).events).toEqual([]);
});

test("[S4-10] emits plan updates and the progress of an MCP tool", () => {
  const plan = [
    { step: "look", status: "completed" },
    { step: "do", status: "inProgress" },
    { step: "rest", status: "someday" },
  ];
  const { events } = translated(
    ["turn/plan/updated", { explanation: null, plan }],
    ["item/mcpToolCall/progress", { itemId: "call", message: "half" }],
  );
  expect(events).toEqual([
    {
      type: "turn/plan/updated",
      explanation: "",
      plan: [...plan.slice(0, 2), { step: "rest", status: "pending" }],
    },
    { type: "item/mcpToolCall/progress", itemId: "call", message: "half" },
  ]);
});

test("passes an unknown item on as it is, with its type prefixed", () => {
  const item = { type: "imageView", id: "an id/with odd letters", path: "/x.png" };
  const { events } = translated(["item/started", { item }], ["item/completed", { item }]);
  expect(events).toHaveLength(2);
  expect(events[1]).toMatchObject({
    type: "item/completed",
    item: { type: "codex/imageView", path: "/x.png" },
  });
  expect(lifecycleFaults(events, true)).toEqual([]);
});

test("[S3-69] keeps the items of a turn that ends without a list of them", () => {
  const item = { type: "agentMessage", id: "m", text: "Yes." };
  const turn = { id: "turn", status: "completed", items: [] };
  const { events, outcome } = translated(
    ["item/started", { item: { ...item, text: "" } }],
    ["item/completed", { item }],
    ["turn/completed", { turn }],
  );
  expect(events.map(({ type }) => type)).toEqual(["item/started", "item/completed"]);
  expect(outcome).toEqual({ status: "completed" });
});

test("[S3-71] ignores notifications of another turn, and those before the turn began", () => {
  const item = { type: "agentMessage", id: "m", text: "late" };
  expect(translated(["item/completed", { turnId: "earlier", item }]).events).toEqual([]);
  const read = readCodexNotification("item/completed", { ...TURN_IDS, item });
  if (read === undefined) throw new Error("not understood");
  expect(step(beginTurn("/", "prompt", 0), read)[1]).toEqual([]);
});

test("takes the id of a compaction from turn/started", () => {
  const turn = { id: "c", status: "inProgress", items: [] };
  const read = readCodexNotification("turn/started", { threadId: "thread", turn });
  if (read === undefined) throw new Error("not understood");
  expect(step(beginTurn("/", "compact", 0), read)[0].turnId).toBe("c");
  expect(step(beginTurn("/", "prompt", 0), read)[0].turnId).toBeUndefined();
});

test("counts a repeated token total once, in disjoint buckets", () => {
  const tokens = {
    totalTokens: 130,
    inputTokens: 100,
    cachedInputTokens: 60,
    cacheWriteInputTokens: 10,
    outputTokens: 30,
    reasoningOutputTokens: 20,
  };
  const tokenUsage = { total: tokens, last: tokens, modelContextWindow: 1000 };
  const usage = ["thread/tokenUsage/updated", { tokenUsage }] as const;
  const last = {
    inputTokens: 30,
    cacheReadTokens: 60,
    cacheWriteTokens: 10,
    outputTokens: 10,
    thinkingTokens: 20,
  };
  expect(translated(usage, usage).events).toEqual([{ type: "usage", last, modelContextWindow: 1000 }]);
});

test("[S4-26] fails a turn with the message and the HTTP status", () => {
  const message = JSON.stringify({ error: { message: "No such model." } });
  const error = { message, codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 503 } } };
  const turn = { id: "turn", status: "failed", items: [], error };
  expect(translated(["turn/completed", { turn }]).outcome).toEqual({
    status: "failed",
    error: { message: "No such model.", errorInfo: "InternalServerError", httpStatusCode: 503 },
  });
});

test("[S3-25] a policy of the provider that ends the turn is a refusal", () => {
  const error = { message: "Not this.", codexErrorInfo: "cyberPolicy" };
  const turn = { id: "turn", status: "failed", items: [], error };
  expect(translated(["turn/completed", { turn }]).outcome).toEqual({
    status: "failed",
    error: { message: "Not this.", errorInfo: "Refused" },
  });
});

test("[S4-26] uses an earlier error if the end of the turn has none", () => {
  const error = { message: "Too long.", codexErrorInfo: "contextWindowExceeded" };
  const turn = { id: "turn", status: "failed", items: [], error: null };
  const { outcome, events } = translated(
    ["error", { error, willRetry: false }],
    ["turn/completed", { turn }],
  );
  expect(events).toEqual([]);
  expect(outcome).toEqual({
    status: "failed",
    error: { message: "Too long.", errorInfo: "ContextWindowExceeded" },
  });
});

test("keeps streamed output that the completed item omits", () => {
  const item = { type: "commandExecution", id: "c", command: "ls", cwd: "/workspace", status: "inProgress" };
  const { events } = translated(
    ["item/started", { item }],
    ["item/commandExecution/outputDelta", { itemId: "c", delta: "a\n" }],
    ["item/completed", { item: { ...item, status: "completed", exitCode: 0, aggregatedOutput: null } }],
  );
  expect(events.at(-1)).toMatchObject({ item: { aggregatedOutput: "a\n", exitCode: 0 } });
});

test("[S0-58] [S2-39] streams a patch as it is written, and its changes so far", () => {
  const item = { type: "fileChange", id: "f", status: "inProgress", changes: [] };
  const add = (diff: string) => [{ path: "/workspace/a.txt", kind: { type: "add" }, diff }];
  const patch = (changes: object[]) => ["item/fileChange/patchUpdated", { itemId: "f", changes }] as const;
  const { events } = translated(
    ["item/started", { item }],
    patch(add("one")),
    patch(add("one\ntwo")),
    patch(add("other")),
    patch(add("other, and longer than before")),
    patch([...add("one\ntwo"), { path: "/workspace/b", kind: { type: "delete" }, diff: "" }]),
  );
  const deltas = events.flatMap((event) =>
    event.type === "item/fileChange/outputDelta" ? [event.delta] : [],
  );
  expect(deltas).toEqual(["+++ b/a.txt\n+one", "\n+two", "\n--- a/b"]);
  const updates = events.filter(({ type }) => type === "item/fileChange/patchUpdated");
  expect(updates.map((event) => Reflect.get(event, "changes").length)).toEqual([1, 1, 1, 1, 2]);
  expect(updates[0]).toMatchObject({ itemId: "f", changes: [{ path: "a.txt", kind: "add" }] });
});

describe("a patch that Codex writes before it starts the item", () => {
  const changes = [{ path: "/workspace/a.txt", kind: { type: "add" }, diff: "one\ntwo\n" }];
  const half = [{ ...changes[0], diff: "one\n" }];
  const item = { type: "fileChange", id: "f", status: "inProgress", changes };
  const patch = ["item/fileChange/patchUpdated", { itemId: "f", changes: half }] as const;

  test("is one item, which has the whole patch once it is complete [S2-39]", () => {
    const { events } = translated(
      patch,
      ["item/started", { item }],
      ["item/completed", { item: { ...item, status: "completed" } }],
    );
    expect(events.map(({ type }) => type)).toEqual([
      ...["item/started", "item/fileChange/outputDelta", "item/fileChange/patchUpdated"],
      ...["item/fileChange/patchUpdated", "item/completed"],
    ]);
    expect(events[0]).toMatchObject({ item: { type: "fileChange", changes: [], status: "inProgress" } });
    expect(JSON.stringify(events[3])).toContain("+two");
  });

  test("ends as failed if Codex does not apply it", () => {
    const turn = { id: "turn", items: [], status: "completed", error: null };
    const { events } = translated(patch, ["turn/completed", { turn }]);
    expect(events.at(-1)).toMatchObject({
      type: "item/completed",
      item: { changes: [], status: "failed", output: "Codex did not apply this change." },
    });
  });
});

test("requests approval of a patch as far as it is written", () => {
  const item = { type: "fileChange", id: "f", status: "inProgress", changes: [] };
  const changes = [{ path: "/workspace/a.txt", kind: { type: "add" }, diff: "a" }];
  const { state } = translated(
    ["item/started", { item }],
    ["item/fileChange/patchUpdated", { itemId: "f", changes }],
  );
  expect(changesOf(state, "f")).toEqual([
    {
      path: "a.txt",
      kind: "add",
      diff: "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,1 @@\n+a\n\\ No newline at end of file\n",
    },
  ]);
});
