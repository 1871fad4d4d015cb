import { describe, expect, test } from "vitest";
import { DELTA_FIELDS, ExtensionItem, ITEMS, isKnownItem, KnownItem, ThreadItem } from "./items.ts";
import { FileUpdateChange, PlanEntry, priorityOf } from "./thread/item-schemas.ts";

const change = { path: "/repo/a.ts", kind: "modify", diff: "@@ -1 +1 @@\n-a\n+b\n" };

/** For each type the least it needs, and everything it may have. */
const SAMPLES: Readonly<Record<keyof typeof ITEMS, { least: object; most: object }>> = {
  userMessage: {
    least: { content: [{ type: "text", text: "Fix it" }] },
    most: { clientId: "c1", content: [{ type: "localImage", path: "/a.png" }] },
  },
  agentMessage: { least: { text: "" }, most: { text: "Done.", partial: true } },
  subAgentMessage: { least: { text: "" }, most: { text: "Found it.", parentItemId: "p" } },
  hookRun: {
    least: { event: "Stop", status: "inProgress" },
    most: { event: "Stop", name: "Stop", status: "blocked", output: "no", exitCode: 2, durationMs: 3 },
  },
  reasoning: { least: {}, most: { summary: "Short", content: "Long", partial: false } },
  commandExecution: {
    least: { command: "ls", cwd: "/repo", status: "inProgress" },
    most: {
      command: "ls",
      cwd: "/repo",
      status: "completed",
      exitCode: 0,
      aggregatedOutput: "a.ts\n",
      omittedOutputBytes: 12,
      durationMs: 5,
    },
  },
  fileChange: {
    least: { changes: [], status: "inProgress" },
    most: { changes: [change], status: "declined", output: "patching" },
  },
  mcpToolCall: {
    least: { server: "docs", tool: "search", status: "inProgress" },
    most: {
      server: "docs",
      tool: "search",
      arguments: { query: "x" },
      status: "failed",
      result: [1],
      error: "gone",
      durationMs: 1,
    },
  },
  toolCall: {
    least: { tool: "spawn", status: "inProgress" },
    most: {
      tool: "spawn",
      title: "Ask another agent",
      arguments: "any",
      status: "declined",
      result: null,
      error: "no",
      durationMs: 1,
    },
  },
  webSearch: { least: { query: "zod" }, most: { query: "zod" } },
  plan: {
    least: { text: "" },
    most: { text: "Plan", entries: [{ step: "Look", status: "pending" }], partial: true },
  },
  enteredReviewMode: { least: { review: "" }, most: { review: "current changes" } },
  exitedReviewMode: { least: { review: "" }, most: { review: "All good." } },
  agentHandoff: {
    least: { fromAgent: "a", toAgent: "b", missedTurns: 0 },
    most: { fromAgent: "a", toAgent: "b", missedTurns: 3 },
  },
  contextCompaction: { least: {}, most: { summary: "We did this and that." } },
};

const samples = Object.entries(SAMPLES).map(([type, { least, most }]) => ({
  type,
  least: { type, id: "i1", ...least },
  most: { type, id: "i1", ...most },
}));

const sampleOf = (type: keyof typeof ITEMS): object => ({ type, id: "i1", ...SAMPLES[type].most });
const required = (type: keyof typeof ITEMS): string[] =>
  Object.keys(sampleOf(type)).filter(
    (field) => !ThreadItem.safeParse({ ...sampleOf(type), [field]: undefined }).success,
  );
const statuses = (type: keyof typeof ITEMS): string[] =>
  ["pending", "inProgress", "completed", "failed", "declined", "interrupted"].filter(
    (status) => ThreadItem.safeParse({ ...sampleOf(type), status }).success,
  );

describe("the known items", () => {
  test("include the eight types of the protocol [S0-3, S0-44]", () => {
    const eight = [
      "userMessage",
      "agentMessage",
      "reasoning",
      "commandExecution",
      "fileChange",
      "mcpToolCall",
      "webSearch",
      "plan",
    ];
    expect(Object.keys(ITEMS)).toEqual(expect.arrayContaining(eight));
    expect(KnownItem.def.options.map((option) => option.shape.type.def.values[0])).toEqual(
      Object.keys(ITEMS),
    );
  });

  test.each(samples)(
    "$type is accepted unchanged, with all its fields or only the required ones",
    ({ least, most }) => {
      expect([ThreadItem.parse(least), ThreadItem.parse(most)]).toEqual([least, most]);
      expect(isKnownItem(ThreadItem.parse(least))).toBe(true);
    },
  );

  test.each(samples)("$type passes _meta and unknown fields through [S0-85]", ({ most }) => {
    const item = { ...most, _meta: { sdkSessionId: "sess_abc123" }, newField: { deep: [1, null] } };
    expect(ThreadItem.parse(item)).toEqual(item);
  });

  test.each(samples)("$type is rejected without a valid id", ({ most }) => {
    for (const id of [undefined, "", "../x", 7])
      expect(ThreadItem.safeParse({ ...most, id }).success).toBe(false);
  });
});

describe("the required fields of an item", () => {
  test("an agent message: id and text [S0-45]", () => {
    expect(required("agentMessage")).toEqual(["type", "id", "text"]);
  });
  test("reasoning: only an id [S0-47]", () => {
    expect(required("reasoning")).toEqual(["type", "id"]);
  });
  test("a command: command, cwd and one of four statuses [S0-50, S0-51]", () => {
    expect(required("commandExecution")).toEqual(["type", "id", "command", "cwd", "status"]);
    expect(statuses("commandExecution")).toEqual(["inProgress", "completed", "failed", "declined"]);
  });
  test("a file change: its changes and one of four statuses [S0-55, S0-57]", () => {
    expect(required("fileChange")).toEqual(["type", "id", "changes", "status"]);
    expect(statuses("fileChange")).toEqual(["inProgress", "completed", "failed", "declined"]);
  });
  test("an MCP call: server, tool and one of three statuses [S0-61]", () => {
    expect(required("mcpToolCall")).toEqual(["type", "id", "server", "tool", "status"]);
    expect(statuses("mcpToolCall")).toEqual(["inProgress", "completed", "failed"]);
  });
  test("a web search: the query [S0-62]", () => {
    expect(required("webSearch")).toEqual(["type", "id", "query"]);
  });
  test("a plan: its text; the entries are optional [S0-63]", () => {
    expect(required("plan")).toEqual(["type", "id", "text"]);
  });
});

describe("the parts of items", () => {
  test("a step of a plan is pending, inProgress, completed or failed [S0-64]", () => {
    expect(PlanEntry.shape.status.options).toEqual(["pending", "inProgress", "completed", "failed"]);
    expect(PlanEntry.safeParse({ status: "pending" }).success).toBe(false);
  });

  test("a step has a priority only if the agent reports a known one", () => {
    expect(["high", "medium", "low"].map(priorityOf)).toEqual([
      { priority: "high" },
      { priority: "medium" },
      { priority: "low" },
    ]);
    expect(["urgent", 1, null, undefined].map(priorityOf)).toEqual([{}, {}, {}, {}]);
    const step = { step: "look", status: "pending" };
    expect(PlanEntry.parse({ ...step, priority: "low" })).toEqual({ ...step, priority: "low" });
    expect(PlanEntry.safeParse({ ...step, priority: "urgent" }).success).toBe(false);
  });

  test("a file change needs its path, kind and diff", () => {
    expect(FileUpdateChange.parse(change)).toEqual(change);
    expect(FileUpdateChange.shape.kind.options).toEqual(["add", "modify", "delete"]);
    for (const field of Object.keys(change)) {
      expect(FileUpdateChange.safeParse({ ...change, [field]: undefined }).success).toBe(false);
    }
  });
});

describe("the union of items is open", () => {
  test("an unknown type passes through with all its fields [S0-88]", () => {
    const item = { type: "hologram", id: "h1", text: "hi", frames: [{ at: 0 }], _meta: { codec: "x" } };
    const parsed = ThreadItem.parse(item);
    expect(parsed).toEqual(item);
    expect(isKnownItem(parsed)).toBe(false);
  });

  test.each(["toString", "constructor", "hasOwnProperty"])("the type %s is not special", (type) => {
    expect(ThreadItem.parse({ type, id: "h1" })).toEqual({ type, id: "h1" });
    expect(isKnownItem({ type, id: "h1" })).toBe(false);
  });

  test.each(Object.keys(ITEMS))(
    "a known type with a wrong shape does not pass as an unknown one: %s",
    (type) => {
      expect(ExtensionItem.safeParse({ type, id: "i1" }).success).toBe(false);
      const wrong = {
        type,
        id: "i1",
        text: 1,
        content: 1,
        command: 1,
        changes: 1,
        tool: 1,
        query: 1,
        review: 1,
        summary: 1,
      };
      expect(ThreadItem.safeParse(wrong).success).toBe(false);
    },
  );

  test.each([{ id: "i1" }, { type: 5, id: "i1" }, { type: "hologram" }, "text", null])(
    "%j is not an item",
    (value) => {
      expect(ThreadItem.safeParse(value).success).toBe(false);
    },
  );
});

test("each delta event extends a text field of one item type", () => {
  expect([...DELTA_FIELDS]).toEqual([
    ["item/agentMessage/delta", "text"],
    ["item/reasoning/textDelta", "content"],
    ["item/reasoning/summaryTextDelta", "summary"],
    ["item/commandExecution/outputDelta", "aggregatedOutput"],
    ["item/fileChange/outputDelta", "output"],
    ["item/plan/delta", "text"],
  ]);
});

test("text that streams may be long", () => {
  const streamed = Object.entries(ITEMS).map(([type, { deltas, longFields }]) => ({
    type,
    short: Object.values<string>(deltas).filter((field) => !longFields.some((each) => each === field)),
  }));
  expect(streamed.filter(({ short }) => short.length > 0)).toEqual([]);
});
