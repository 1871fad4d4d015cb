import { type EventBody, HARNESS_ITEMS, type HarnessItem, type Item, type Turn } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { events } from "./events.ts";

const ofTurn = { threadId: "t1", turnId: "u1" };
const ended: Turn = {
  id: "u1",
  status: "completed",
  items: [],
  startedAtMs: 1000,
  completedAtMs: 2000,
  durationMs: 1000,
};

function item(itemId: string, type: HarnessItem["type"], data: object): { item: HarnessItem } {
  return { item: { itemId, ...ofTurn, type, data: { ...data } } };
}

function delta(itemId: string, itemType: HarnessItem["type"], field: string, text: string, offset?: number) {
  const position = offset === undefined ? {} : { offset };
  return { itemId, ...ofTurn, itemType, field, delta: text, ...position };
}

/** The messages of one event, as method and params. */
function sentFor(body: EventBody) {
  return events({ ...body, seq: 7, at: 1007 }).map(({ method, params }) => [method, params]);
}

describe("the end of a turn", () => {
  const time = { started: 1000, completed: 2000 };
  const turn = { turnId: "u1", threadId: "t1", time };
  const error = { message: "no credit", errorInfo: "UsageLimitExceeded" };

  test.each([
    [
      "that completed is turn.completed [S1-14]",
      ended,
      ["turn.completed", { turn: { ...turn, status: "completed" } }],
    ],
    [
      "that was interrupted is turn.completed with the status cancelled [S1-27]",
      { ...ended, status: "interrupted" },
      ["turn.completed", { turn: { ...turn, status: "cancelled" } }],
    ],
    [
      "that failed is turn.error with the reason [S1-15]",
      { ...ended, status: "failed", error },
      ["turn.error", { turn: { ...turn, status: "error" }, error }],
    ],
    [
      "that failed without a reason is turn.error all the same [S1-15]",
      { ...ended, status: "failed" },
      [
        "turn.error",
        {
          turn: { ...turn, status: "error" },
          error: { message: "The agent gave no reason for the failure." },
        },
      ],
    ],
    [
      "without times has the time of its event [S1-27]",
      { id: "u1", status: "completed", items: [], durationMs: 7 },
      [
        "turn.completed",
        { turn: { ...turn, status: "completed", time: { started: 1000, completed: 1007 } } },
      ],
    ],
  ] as const)("%s", (_name, flint, expected) => {
    const body: EventBody = {
      type: "turn/completed",
      data: { threadId: "t1", turn: { ...flint, items: [] } },
    };
    expect(sentFor(body)).toStrictEqual([expected]);
  });
});

describe("streamed text", () => {
  const piece = { ...ofTurn, itemId: "i9", delta: "abc", offset: 3 };

  test.each([
    ["item/agentMessage/delta", delta("i9", "assistant_message", "text", "abc", 3)],
    ["item/reasoning/textDelta", delta("i9", "assistant_message", "reasoning", "abc", 3)],
    ["item/reasoning/summaryTextDelta", delta("i9", "assistant_message", "summary", "abc", 3)],
    ["item/commandExecution/outputDelta", delta("i9.log", "tool_log", "output", "abc", 3)],
    ["item/fileChange/outputDelta", delta("i9", "tool_exec", "output", "abc", 3)],
    ["item/plan/delta", delta("i9", "tool_exec", "text", "abc", 3)],
  ] as const)("of %s is an item.delta that names the field it extends [S1-17]", (type, params) => {
    expect(sentFor({ type, data: piece })).toStrictEqual([["item.delta", params]]);
    expect(Object.keys(HARNESS_ITEMS)).toContain(params.itemType);
  });

  test("of an MCP tool that reports progress is an item.delta without an offset [S1-17]", () => {
    const body: EventBody = {
      type: "item/mcpToolCall/progress",
      data: { ...ofTurn, itemId: "i9", message: "half" },
    };
    expect(sentFor(body)).toStrictEqual([["item.delta", delta("i9", "tool_exec", "progress", "half")]]);
  });
});

test("an approval shows the exact diff, and its end has who decided and why [S1-19, S1-24]", () => {
  const change = {
    kind: "fileChange",
    itemId: "i4",
    reason: "outside of the workspace",
    changes: [{ path: "/etc/hosts", kind: "modify" as const, diff: "@@ -1 +1 @@\n-a\n+b" }],
  } as const;
  const shown = { ...change, changes: [...change.changes] };
  const requested: EventBody = {
    type: "approval/requested",
    data: {
      threadId: "t1",
      approval: { id: "a2", turnId: "u1", action: shown, requestedAtMs: 1, expiresAtMs: 2 },
    },
  };
  const decision = { outcome: "cancel", scope: "once", message: "no answer in time" } as const;
  const resolved: EventBody = {
    type: "approval/resolved",
    data: { ...ofTurn, approvalId: "a2", itemId: "i4", resolution: { decision, by: "timeout" } },
  };
  const ids = { requestId: "t1.a2", toolItemId: "i4" };
  expect([...sentFor(requested), ...sentFor(resolved)]).toStrictEqual([
    ["item.started", item("t1.a2", "approval", { ...ids, action: shown })],
    ["approval.requested", { requestId: "t1.a2", ...ofTurn, itemId: "i4", action: shown, expiresAt: 2 }],
    [
      "item.completed",
      item("t1.a2", "approval", { ...ids, decision: "reject", by: "timeout", resolution: decision }),
    ],
  ]);
});

test("a completed file change is followed by its artifacts [S1-25]", () => {
  const change: Item<"fileChange"> = {
    type: "fileChange",
    id: "i5",
    changes: [{ path: "/repo/a.ts", kind: "add", diff: "+1" }],
    status: "completed",
  };
  const { type: kind, id, ...fields } = change;
  const file = item("i5.artifact-1", "artifact", { toolItemId: "i5", path: "/repo/a.ts", change: "add" });
  expect(sentFor({ type: "item/completed", data: { ...ofTurn, item: change } })).toStrictEqual([
    ["item.completed", item(id, "tool_exec", { ...fields, kind, tool: "edit" })],
    ["item.started", file],
    ["item.completed", file],
  ]);
  expect(sentFor({ type: "item/started", data: { ...ofTurn, item: change } })).toHaveLength(1);
});

test("each state of the plan is one call of the plan tool", () => {
  const plan = [{ step: "Test", status: "inProgress" as const }];
  const planItem = item("u1.plan-7", "tool_exec", { kind: "plan", tool: "plan", text: "Now", entries: plan });
  const body: EventBody = { type: "turn/plan/updated", data: { ...ofTurn, explanation: "Now", plan } };
  expect(sentFor(body)).toStrictEqual([
    ["item.started", planItem],
    ["item.completed", planItem],
  ]);
});

test("a question of the agent is shown as a tool that waits", () => {
  const questions = [{ id: "q1", question: "Which port?" }];
  const answers = { q1: { answers: ["80"] } };
  const requested: EventBody = {
    type: "question/requested",
    data: {
      threadId: "t1",
      request: { id: "n1", turnId: "u1", itemId: "i6", questions, requestedAtMs: 1, expiresAtMs: 2 },
    },
  };
  const resolved: EventBody = {
    type: "question/resolved",
    data: { ...ofTurn, questionId: "n1", itemId: "i6", answers, by: "client" },
  };
  const asking = { kind: "question", tool: "ask_user", toolItemId: "i6" };
  expect([...sentFor(requested), ...sentFor(resolved)]).toStrictEqual([
    [
      "item.started",
      item("i6.question-n1", "tool_exec", { ...asking, status: "inProgress", questions, expiresAt: 2 }),
    ],
    [
      "item.completed",
      item("i6.question-n1", "tool_exec", { ...asking, status: "completed", answers, by: "client" }),
    ],
  ]);
});

test("an error that the agent recovers from is not the end of the turn", () => {
  const body: EventBody = {
    type: "error",
    data: { ...ofTurn, error: { message: "try again" }, willRetry: true },
  };
  expect(sentFor(body)).toEqual([]);
});

test.each([
  ["deprecation", "[S2-46] what an agent will no longer support"],
  ["configuration", "[S2-47] an agent's warning about its configuration"],
])("a warning is shown as a tool call of its turn: %s, %s", (reason) => {
  const data = { ...ofTurn, message: "Old key.", reason, details: "Use the new one." };
  const shown = {
    ...ofTurn,
    itemId: expect.stringMatching(/^u1\.warning-1007-25$/),
    type: "tool_exec",
    data: { kind: "warning", tool: "warning", text: "Old key.\nUse the new one.", reason },
  };
  expect(sentFor({ type: "warning", data })).toEqual([
    ["item.started", { item: shown }],
    ["item.completed", { item: shown }],
  ]);
});

test("a warning that belongs to no turn is not shown", () => {
  const { threadId } = ofTurn;
  const data = { threadId, message: "Old key.", reason: "workspace" };
  expect(sentFor({ type: "warning", data })).toEqual([]);
});
