import { describe, expect, test } from "vitest";
import type { EventBody, ThreadEvent } from "../events.ts";
import type { ThreadItem } from "../items.ts";
import {
  after,
  approval,
  command,
  ofTurn,
  question,
  STARTED,
  settings,
  thread,
  turn,
} from "../testing/thread-events.ts";
import { reduceThread } from "./reduce-thread.ts";
import { emptyThread, type ThreadState } from "./thread-state.ts";

describe("a whole turn", () => {
  test("leaves the thread as its events describe", () => {
    const usage = { inputTokens: 10, outputTokens: 5 };
    const completed = { ...command, status: "completed", exitCode: 0, aggregatedOutput: "ok\n" } as const;
    const resolution = { decision: { outcome: "allow", scope: "session" }, by: "client" } as const;
    const state = after([
      ...STARTED,
      { type: "item/started", data: { ...ofTurn, item: question } },
      { type: "item/completed", data: { ...ofTurn, item: question } },
      { type: "item/started", data: { ...ofTurn, item: command } },
      { type: "approval/requested", data: { threadId: "t1", approval } },
      { type: "approval/resolved", data: { ...ofTurn, approvalId: "a1", itemId: "i2", resolution } },
      {
        type: "item/commandExecution/outputDelta",
        data: { ...ofTurn, itemId: "i2", delta: "ok\n", offset: 0 },
      },
      { type: "item/completed", data: { ...ofTurn, item: completed } },
      {
        type: "thread/tokenUsage/updated",
        data: { ...ofTurn, usage, last: usage, modelContextWindow: 8192 },
      },
      { type: "thread/session/updated", data: { threadId: "t1", agent: "flint", nativeId: "n1" } },
      {
        type: "turn/completed",
        data: { threadId: "t1", turn: { ...turn, status: "completed", itemsView: "notLoaded" } },
      },
    ]);
    expect(state).toEqual({
      seq: 12,
      thread: {
        ...{ ...thread, preview: "Run the tests", updatedAt: 1_700_000_012, status: { type: "idle" } },
        nativeSession: { agent: "flint", id: "n1" },
      },
      settings,
      turns: [{ ...turn, status: "completed", items: [question, completed] }],
      activeTurnId: undefined,
      openItemIds: [],
      approvals: [],
      questions: [],
      toolCalls: [],
      queue: [],
      usage,
      lastUsage: usage,
      usageTurnId: "u1",
      modelContextWindow: 8192,
      cost: undefined,
      grants: [expect.objectContaining({ scope: "session", project: "/", tool: "command" })],
      lapsedApprovals: [],
      endedTurns: 1,
      workedMs: 0,
      nativeIds: { flint: "n1" },
      nativeCosts: {},
      lastTurns: { flint: "u1" },
      lastAgent: "flint",
      goal: undefined,
      agentNotes: [],
    });
  });

  test("keeps what an agent's session has cost for as long as it is that session", () => {
    const cost = { amount: 5, currency: "USD" };
    const session = (nativeId: string, more: object = {}): EventBody => ({
      type: "thread/session/updated",
      data: { threadId: "t1", agent: "a", nativeId, ...more },
    });
    expect(after([session("n1", { cost })]).nativeCosts).toEqual({ a: cost });
    expect(after([session("n1", { cost }), session("n1")]).nativeCosts).toEqual({ a: cost });
    expect(after([session("n1", { cost }), session("n2")]).nativeCosts).toEqual({});
  });

  test("counts a call of a sub-agent, whose context is not that of the thread", () => {
    const own = { inputTokens: 10, outputTokens: 5 };
    const usage = { inputTokens: 110, outputTokens: 6 };
    const last = { inputTokens: 100, outputTokens: 1 };
    const state = after([
      ...STARTED,
      { type: "thread/tokenUsage/updated", data: { ...ofTurn, usage: own, last: own } },
      { type: "thread/tokenUsage/updated", data: { ...ofTurn, usage, last, parentItemId: "i2" } },
    ]);
    expect(state).toMatchObject({ usage, lastUsage: own });
  });

  test("shows what runs and what waits while it runs", () => {
    const state = after([
      ...STARTED,
      { type: "item/started", data: { ...ofTurn, item: command } },
      { type: "approval/requested", data: { threadId: "t1", approval } },
    ]);
    expect(state).toEqual({
      ...emptyThread("t1"),
      seq: 4,
      thread: {
        ...thread,
        updatedAt: 1_700_000_002,
        status: { type: "active", activeFlags: ["waitingOnApproval"] },
      },
      settings,
      turns: [{ ...turn, items: [command] }],
      activeTurnId: "u1",
      openItemIds: ["i2"],
      approvals: [approval],
    });
  });
});

test("counts each turn once, with working time and without waiting time", () => {
  const end = (durationMs: number, waitedMs?: number): EventBody => ({
    type: "turn/completed",
    data: {
      threadId: "t1",
      turn: { ...turn, status: "completed", durationMs, ...(waitedMs === undefined ? {} : { waitedMs }) },
    },
  });
  const once = after([...STARTED, end(1_000, 400), end(1_000, 400)]);
  expect([once.endedTurns, once.workedMs]).toEqual([1, 600]);
  const dropped: EventBody = { type: "thread/reverted", data: { threadId: "t1", turnIds: ["u1"] } };
  const again: EventBody = { type: "turn/started", data: { threadId: "t1", turn } };
  const twice = after([dropped, again, end(50)], once);
  expect([twice.endedTurns, twice.workedMs]).toEqual([2, 650]);
});

describe("a thread", () => {
  test.each<[string, EventBody, (state: ThreadState) => unknown, unknown]>([
    [
      "is renamed",
      { type: "thread/name/updated", data: { threadId: "t1", name: "New" } },
      (state) => state.thread.name,
      "New",
    ],
    [
      "is archived",
      { type: "thread/archived", data: { threadId: "t1" } },
      (state) => state.thread.archived,
      true,
    ],
    [
      "has what waits in its queue",
      {
        type: "thread/queue/changed",
        data: { threadId: "t1", queue: [{ id: "q1", input: [], createdAtMs: 1 }] },
      },
      (state) => state.queue,
      [{ id: "q1", input: [], createdAtMs: 1 }],
    ],
    [
      "loses the turns that were reverted",
      { type: "thread/reverted", data: { threadId: "t1", turnIds: ["u1"] } },
      (state) => state.turns,
      [],
    ],
    [
      "shows the model and folder of its settings",
      {
        type: "thread/settings/updated",
        data: { threadId: "t1", settings: { ...settings, model: "claude/opus", cwd: "/other" } },
      },
      ({ thread: { model, modelProvider, cwd }, settings: { model: chosen } }) => [
        model,
        modelProvider,
        cwd,
        chosen,
      ],
      ["claude/opus", "claude", "/other", "claude/opus"],
    ],
  ])("%s", (_name, body, pick, expected) => {
    expect(pick(after([body], after(STARTED)))).toEqual(expected);
  });

  test("has the turns of an undone revert again, at the end and once each", () => {
    const reverted: EventBody = {
      type: "thread/reverted",
      data: { threadId: "t1", turnIds: ["u1"], revertId: "r1" },
    };
    const undone: EventBody = {
      type: "thread/revert/undone",
      data: { threadId: "t1", revertId: "r1", turns: [{ ...turn, status: "completed" }] },
    };
    const dropped = after([reverted], after(STARTED));
    expect(dropped.turns).toEqual([]);
    const back = after([undone], dropped);
    expect(back.turns).toEqual([{ ...turn, status: "completed" }]);
    expect(after([undone], back).turns).toEqual(back.turns);
  });

  test("can be unarchived", () => {
    const state = after([...STARTED, { type: "thread/archived", data: { threadId: "t1" } }]);
    expect(after([{ type: "thread/unarchived", data: { threadId: "t1" } }], state).thread.archived).toBe(
      false,
    );
  });

  test("keeps the preview of its first message", () => {
    const later: ThreadItem = { ...question, id: "i9", content: [{ type: "text", text: "And now?" }] };
    const bodies: EventBody[] = [question, later].map((item) => ({
      type: "item/started",
      data: { ...ofTurn, item },
    }));
    expect(after([...STARTED, ...bodies]).thread.preview).toBe("Run the tests");
  });

  test("has the progress of a task list while it is worked on, and leaves a proposed plan as it is", () => {
    const entry = (status: "pending" | "completed") => ({ step: "build", status });
    const list: ThreadItem = { type: "plan", id: "i1", text: "1. build", entries: [entry("pending")] };
    const proposal: ThreadItem = { type: "plan", id: "i2", text: "First, build." };
    const state = after([
      ...STARTED,
      { type: "item/started", data: { ...ofTurn, item: list } },
      { type: "item/completed", data: { ...ofTurn, item: proposal } },
      { type: "turn/plan/updated", data: { ...ofTurn, explanation: "", plan: [entry("completed")] } },
    ]);
    expect(state.turns[0]?.items).toEqual([{ ...list, entries: [entry("completed")] }, proposal]);
  });

  test("is not changed by events that only inform the user", () => {
    const state = after(STARTED);
    const informing: EventBody[] = [
      { type: "turn/plan/updated", data: { ...ofTurn, explanation: "", plan: [] } },
      { type: "turn/diff/updated", data: { ...ofTurn, diff: "" } },
      { type: "error", data: { ...ofTurn, error: { message: "No." }, willRetry: true } },
      { type: "model/rerouted", data: { ...ofTurn, fromModel: "a", toModel: "b", reason: "" } },
    ];
    expect(after(informing, state)).toEqual({ ...state, seq: 6 });
    const live: ThreadEvent = { type: "warning", data: { threadId: "t1", message: "", reason: "" }, at: 1 };
    expect(reduceThread(state, live)).toBe(state);
  });
});

test("a thread is listed as failed until another turn starts or the failed one is taken back", () => {
  const failed: EventBody = {
    type: "turn/completed",
    data: { threadId: "t1", turn: { ...turn, status: "failed" } },
  };
  const again: EventBody = { type: "turn/started", data: { threadId: "t1", turn: { ...turn, id: "u2" } } };
  const reverted: EventBody = { type: "thread/reverted", data: { threadId: "t1", turnIds: ["u1"] } };
  const undone: EventBody = {
    type: "thread/revert/undone",
    data: { threadId: "t1", revertId: "r", turns: [{ ...turn, status: "failed" }] },
  };
  const listed = (...events: EventBody[]) => after([...STARTED, ...events]).thread.lastTurnFailed;
  expect(listed()).toBeUndefined();
  expect(listed(failed)).toBe(true);
  expect(listed(failed, again)).toBeUndefined();
  expect(listed(failed, reverted)).toBeUndefined();
  expect(listed(failed, reverted, undone)).toBe(true);
});

test("a thread is listed with its cost, its budget, and the usage limit that its latest turn failed at", () => {
  const cost = { amount: 0.5, currency: "USD" };
  const usage = { inputTokens: 1, outputTokens: 1 };
  const reported = (more: object): EventBody => ({
    type: "thread/tokenUsage/updated",
    data: { threadId: "t1", turnId: "u1", usage, last: usage, ...more },
  });
  const budgeted = (more: object): EventBody => ({
    type: "thread/settings/updated",
    data: { threadId: "t1", settings: { ...settings, ...more } },
  });
  const budget = { thread: { costUsd: 2 } };
  const limit = {
    ...{ agent: "scripted", window: "5 hours", resetsAtMs: 9 },
    ...({ status: "reached", source: "frame", reportedAtMs: 1 } as const),
  };
  const failed: EventBody = {
    type: "turn/completed",
    data: { threadId: "t1", turn: { ...turn, status: "failed", error: { message: "limit", limit } } },
  };
  const again: EventBody = { type: "turn/started", data: { threadId: "t1", turn: { ...turn, id: "u2" } } };
  const listed = (...events: EventBody[]) => {
    const { thread } = after([...STARTED, ...events]);
    return { cost: thread.cost, budget: thread.budget, usageLimit: thread.usageLimit };
  };
  const nothing = { cost: undefined, budget: undefined, usageLimit: undefined };
  expect(listed()).toEqual(nothing);
  // A call without a known cost does not make the thread cheaper.
  expect(listed(reported({ cost }), reported({}))).toEqual({ ...nothing, cost });
  expect(listed(budgeted({ budget }))).toEqual({ ...nothing, budget });
  expect(listed(budgeted({ budget }), budgeted({}))).toEqual(nothing);
  expect(after([...STARTED, budgeted({ task: { taskId: "k1", portBase: 2000 } })]).thread.taskId).toBe("k1");
  expect(listed(failed)).toEqual({ ...nothing, usageLimit: limit });
  expect(listed(failed, again)).toEqual(nothing);
});
