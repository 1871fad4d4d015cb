import {
  type Approval,
  type EventBody,
  emptyThread,
  type ITEMS,
  type KnownItem,
  reduceThread,
  ThreadItem,
  type ThreadState,
} from "@flint/protocol";
import { expect, test } from "vitest";
import { closeTurn } from "./closing.ts";

const place = { threadId: "t", turnId: "u" };
const approval: Approval = {
  id: "a",
  turnId: "u",
  action: { kind: "command", itemId: "c", command: "make", cwd: "/" },
  requestedAtMs: 0,
  expiresAtMs: 1,
};
const request = { id: "q", turnId: "u", itemId: "i", questions: [], requestedAtMs: 0, expiresAtMs: 1 };

function after(...bodies: EventBody[]): ThreadState {
  const turn = { id: "u", status: "inProgress", items: [], startedAtMs: 100 } as const;
  const started: EventBody = { type: "turn/started", data: { threadId: "t", turn: { ...turn, items: [] } } };
  return [started, ...bodies].reduce(
    (state, body, index) => reduceThread(state, { ...body, seq: index + 1, at: 0 }),
    emptyThread("t"),
  );
}

function started(item: ThreadItem): EventBody {
  return { type: "item/started", data: { ...place, item } };
}

test("closes what is open first, and the turn last", () => {
  const state = after(
    started({ type: "agentMessage", id: "m", text: "half" }),
    { type: "approval/requested", data: { threadId: "t", approval } },
    { type: "question/requested", data: { threadId: "t", request } },
  );
  const events = closeTurn(state, "u", { status: "interrupted", by: "interrupt" }, 350);
  expect(events).toEqual([
    {
      type: "approval/resolved",
      data: {
        ...place,
        approvalId: "a",
        itemId: "c",
        resolution: {
          decision: { outcome: "cancel", scope: "once", message: "The turn ended before an answer came." },
          by: "interrupt",
        },
      },
    },
    {
      type: "question/resolved",
      data: { ...place, questionId: "q", itemId: "i", answers: {}, by: "interrupt" },
    },
    {
      type: "item/completed",
      data: { ...place, item: { type: "agentMessage", id: "m", text: "half", partial: true } },
    },
    {
      type: "turn/completed",
      data: {
        threadId: "t",
        turn: {
          id: "u",
          status: "interrupted",
          items: [],
          itemsView: "notLoaded",
          startedAtMs: 100,
          completedAtMs: 350,
          durationMs: 250,
        },
      },
    },
  ]);
});

test("closes every kind of open item: partial text, failed work, or unchanged", () => {
  const work = { status: "inProgress" } as const;
  const items: Record<keyof typeof ITEMS, KnownItem> = {
    userMessage: { type: "userMessage", id: "1", content: [] },
    agentMessage: { type: "agentMessage", id: "2", text: "" },
    reasoning: { type: "reasoning", id: "3" },
    commandExecution: { type: "commandExecution", id: "4", command: "x", cwd: "/", ...work },
    fileChange: { type: "fileChange", id: "5", changes: [], ...work },
    mcpToolCall: { type: "mcpToolCall", id: "6", server: "s", tool: "t", ...work },
    toolCall: { type: "toolCall", id: "7", tool: "t", ...work },
    webSearch: { type: "webSearch", id: "8", query: "q" },
    plan: { type: "plan", id: "9", text: "" },
    enteredReviewMode: { type: "enteredReviewMode", id: "10", review: "" },
    exitedReviewMode: { type: "exitedReviewMode", id: "11", review: "" },
    contextCompaction: { type: "contextCompaction", id: "12" },
    agentHandoff: { type: "agentHandoff", id: "14", fromAgent: "a", toAgent: "b", missedTurns: 0 },
    subAgentMessage: { type: "subAgentMessage", id: "15", text: "" },
    hookRun: { type: "hookRun", id: "16", event: "Stop", ...work },
  };
  const unknown: ThreadItem = { type: "x-own", id: "13" };
  const state = after(...[...Object.values(items), unknown].map(started));
  const closed = closeTurn(state, "u", { status: "failed", by: "turnEnded" }, 350).flatMap((event) =>
    event.type === "item/completed" ? [event.data.item] : [],
  );
  expect(closed.filter((item) => "partial" in item).map((item) => item.type)).toEqual([
    "agentMessage",
    "reasoning",
    "plan",
  ]);
  expect(closed.filter((item) => Reflect.get(item, "status") === "failed").map((item) => item.type)).toEqual([
    "commandExecution",
    "fileChange",
    "mcpToolCall",
    "toolCall",
    "hookRun",
  ]);
  expect(closed).toHaveLength(Object.keys(items).length + 1);
  // The result of a turn is as valid as the report of its agent.
  expect(closed.filter((item) => !ThreadItem.safeParse(item).success)).toEqual([]);
});

test("keeps items declined that were declined before the turn ended", () => {
  const declined: ThreadItem = { type: "toolCall", id: "7", tool: "t", status: "declined" };
  const events = closeTurn(after(started(declined)), "u", { status: "failed", by: "turnEnded" }, 350);
  expect(events[0]).toEqual({ type: "item/completed", data: { ...place, item: declined } });
});

test("declines what was waiting for approval, and fails what was running", () => {
  const command = { type: "commandExecution", command: "make", cwd: "/", status: "inProgress" } as const;
  const state = after(
    started({ ...command, id: "c" }),
    { type: "approval/requested", data: { threadId: "t", approval } },
    started({ ...command, id: "d" }),
  );
  const closed = closeTurn(state, "u", { status: "interrupted", by: "interrupt" }, 350).flatMap((event) =>
    event.type === "item/completed" ? [event.data.item] : [],
  );
  expect(closed).toEqual([
    { ...command, id: "c", status: "declined" },
    { ...command, id: "d", status: "failed" },
  ]);
});

test("fails what was allowed before the turn ended", () => {
  const command = { type: "commandExecution", id: "c", command: "make", cwd: "/" } as const;
  const resolution = { decision: { outcome: "allow", scope: "once" }, by: "client" } as const;
  const state = after(
    started({ ...command, status: "inProgress" }),
    { type: "approval/requested", data: { threadId: "t", approval } },
    { type: "approval/resolved", data: { ...place, approvalId: "a", itemId: "c", resolution } },
  );
  const [event] = closeTurn(state, "u", { status: "interrupted", by: "interrupt" }, 350);
  expect(event).toEqual({
    type: "item/completed",
    data: { ...place, item: { ...command, status: "failed" } },
  });
});

test("returns no events for an unknown turn", () => {
  expect(closeTurn(emptyThread("t"), "u", { status: "completed", by: "turnEnded" }, 1)).toEqual([]);
});
