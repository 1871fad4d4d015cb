import { describe, expect, test } from "vitest";
import { grantKeys } from "./approval.ts";
import type { DeltaType, EventBody, ThreadEvent } from "./events.ts";
import { DELTA_FIELDS, type ThreadItem } from "./items.ts";
import type { Thread, ThreadSettings, Turn } from "./thread.ts";
import { appendAt, emptyThread, previewOf, reduceThread, type ThreadState } from "./thread-state.ts";

const thread: Thread = {
  id: "t1",
  preview: "",
  modelProvider: "flint",
  model: "flint/offline",
  cwd: "/repo",
  createdAt: 1_700_000_000,
  updatedAt: 1_700_000_000,
  archived: false,
  ephemeral: false,
  status: { type: "idle" },
};
const settings: ThreadSettings = {
  model: "flint/offline",
  cwd: "/repo",
  approvalPolicy: "unlessTrusted",
  sandboxPolicy: { type: "workspaceWrite" },
  config: {},
};
const turn: Turn = { id: "u1", status: "inProgress", items: [], itemsView: "full" };
const ofTurn = { threadId: "t1", turnId: "u1" };
const question: ThreadItem = {
  type: "userMessage",
  id: "i1",
  content: [{ type: "text", text: "Run the\ntests" }],
};
const command: ThreadItem = {
  type: "commandExecution",
  id: "i2",
  command: "npm test",
  cwd: "/repo",
  status: "inProgress",
};
const action = { kind: "command", itemId: "i2", command: "npm test", cwd: "/repo" } as const;
const approval = { id: "a1", turnId: "u1", action, requestedAtMs: 1, expiresAtMs: 2 };
const request = { id: "q1", turnId: "u1", itemId: "i2", questions: [], requestedAtMs: 1, expiresAtMs: 2 };
const STARTED: EventBody[] = [
  { type: "thread/started", data: { thread, settings } },
  { type: "turn/started", data: { threadId: "t1", turn } },
];

/** The state after these events, the first of which has the next seq; each is a second later than the one before. */
function after(bodies: readonly EventBody[], state: ThreadState = emptyThread("t1")): ThreadState {
  const at = (seq: number) => 1_700_000_000_000 + seq * 1000;
  return bodies.reduce((current, body) => {
    const seq = current.seq + 1;
    return reduceThread(current, { ...body, seq, at: at(seq) });
  }, state);
}

describe("a whole turn", () => {
  test("leaves the thread as its events say", () => {
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
      thread: { ...thread, preview: "Run the tests", updatedAt: 1_700_000_012, status: { type: "idle" } },
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
      modelContextWindow: 8192,
      cost: undefined,
      grants: grantKeys(approval.action),
      rules: [],
      endedTurns: 1,
      workedMs: 0,
      nativeIds: { flint: "n1" },
      lastTurns: { flint: "u1" },
      lastAgent: "flint",
      goal: undefined,
      unheard: [],
    });
  });

  test("shows in between what runs and what waits", () => {
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

describe("an item", () => {
  test("starts whole, grows, and is in the end what completed it says [S0-41]", () => {
    const message = (text: string): ThreadItem => ({ type: "agentMessage", id: "i1", text });
    const grown = after([
      ...STARTED,
      { type: "item/started", data: { ...ofTurn, item: message("") } },
      { type: "item/agentMessage/delta", data: { ...ofTurn, itemId: "i1", delta: "Hel", offset: 0 } },
      { type: "item/agentMessage/delta", data: { ...ofTurn, itemId: "i1", delta: "lo", offset: 3 } },
    ]);
    expect([grown.turns[0]?.items, grown.openItemIds]).toEqual([[message("Hello")], ["i1"]]);
    const ended = after([{ type: "item/completed", data: { ...ofTurn, item: message("Hello!") } }], grown);
    expect([ended.turns[0]?.items, ended.openItemIds]).toEqual([[message("Hello!")], []]);
  });

  test.each([...DELTA_FIELDS])(
    "%s extends its field %s and nothing else [S0-46, S0-48, S0-49, S0-52, S0-58, S0-65]",
    (type, field) => {
      const item = { type: "extension", id: "i1", other: "same" };
      const data = { ...ofTurn, itemId: "i1", delta: "abc", offset: 0 };
      // The names of the table are the names of the delta events; a Map forgets that.
      const body = { type: type as DeltaType, data };
      const state = after([...STARTED, { type: "item/started", data: { ...ofTurn, item } }, body]);
      expect(state.turns[0]?.items).toEqual([{ ...item, [field]: "abc" }]);
    },
  );

  test("of an unknown turn, or text of an unknown item, changes nothing", () => {
    const state = after(STARTED);
    const stray = after(
      [
        { type: "item/agentMessage/delta", data: { ...ofTurn, itemId: "i9", delta: "x", offset: 0 } },
        {
          type: "item/plan/delta",
          data: { threadId: "t1", turnId: "u9", itemId: "i9", delta: "x", offset: 0 },
        },
        { type: "item/completed", data: { threadId: "t1", turnId: "u9", item: command } },
      ],
      state,
    );
    expect(stray).toEqual({ ...state, seq: 5 });
  });
});

describe("the status of a thread follows from what is open", () => {
  const resolution = { decision: { outcome: "deny", scope: "once" }, by: "client" } as const;
  const asked: EventBody[] = [
    { type: "approval/requested", data: { threadId: "t1", approval } },
    { type: "question/requested", data: { threadId: "t1", request } },
  ];
  const answered: EventBody[] = [
    { type: "approval/resolved", data: { ...ofTurn, approvalId: "a1", itemId: "i2", resolution } },
    {
      type: "question/resolved",
      data: { ...ofTurn, questionId: "q1", itemId: "i2", answers: {}, by: "client" },
    },
  ];
  const ended: EventBody = {
    type: "turn/completed",
    data: { threadId: "t1", turn: { ...turn, status: "interrupted" } },
  };

  test.each([
    ["no turn", STARTED.slice(0, 1), { type: "idle" }],
    ["a turn", STARTED, { type: "active", activeFlags: [] }],
    [
      "an approval",
      [...STARTED, ...asked.slice(0, 1)],
      { type: "active", activeFlags: ["waitingOnApproval"] },
    ],
    [
      "an approval and a question",
      [...STARTED, ...asked],
      { type: "active", activeFlags: ["waitingOnApproval", "waitingOnUserInput"] },
    ],
    [
      "a question",
      [...STARTED, ...asked, ...answered.slice(0, 1)],
      { type: "active", activeFlags: ["waitingOnUserInput"] },
    ],
    [
      "a turn whose questions are answered",
      [...STARTED, ...asked, ...answered],
      { type: "active", activeFlags: [] },
    ],
    ["a turn that ended with its questions", [...STARTED, ...asked, ended], { type: "idle" }],
  ])("%s", (_name, events, status) => {
    expect(after(events).thread.status).toEqual(status);
  });

  test("what a turn leaves open ends with it", () => {
    const running = after([
      ...STARTED,
      { type: "item/started", data: { ...ofTurn, item: command } },
      ...asked,
    ]);
    expect([running.openItemIds, running.approvals, running.questions]).toEqual([
      ["i2"],
      [approval],
      [request],
    ]);
    const { approvals, questions, activeTurnId, openItemIds } = after([ended], running);
    expect({ approvals, questions, activeTurnId, openItemIds }).toEqual({
      approvals: [],
      questions: [],
      activeTurnId: undefined,
      openItemIds: [],
    });
  });
});

describe("an answer to an approval", () => {
  test.each([
    ["allow", "once", []],
    ["allow", "session", grantKeys(approval.action)],
    // What holds for always is kept as a rule, which can be taken back.
    ["allow", "always", []],
    ["deny", "session", []],
    ["cancel", "always", []],
  ] as const)("%s for %s grants %j", (outcome, scope, grants) => {
    const resolution = { decision: { outcome, scope }, by: "client" } as const;
    const resolved: EventBody = {
      type: "approval/resolved",
      data: { ...ofTurn, approvalId: "a1", itemId: "i2", resolution },
    };
    const state = after([
      ...STARTED,
      { type: "approval/requested", data: { threadId: "t1", approval } },
      resolved,
    ]);
    expect(state.grants).toEqual(grants);
    expect(
      after([{ type: "approval/requested", data: { threadId: "t1", approval } }, resolved], state).grants,
    ).toEqual(grants);
  });
});

describe("a suggestion", () => {
  const suggestion = {
    ...{ id: "r1", project: "/repo", agent: "flint", tool: "command" },
    match: { type: "prefix" as const, words: ["npm", "test"] },
  };

  test.each([
    ["session", "r1", [suggestion], []],
    ["session", "r2", [], grantKeys(approval.action)],
    ["always", "r1", [], []],
    ["once", "r1", [], []],
  ] as const)("taken for %s as %s is kept in the thread as %j", (scope, rule, rules, grants) => {
    const resolution = { decision: { outcome: "allow", scope, rule }, by: "client" } as const;
    const state = after([
      ...STARTED,
      {
        type: "approval/requested",
        data: { threadId: "t1", approval: { ...approval, suggestions: [suggestion] } },
      },
      { type: "approval/resolved", data: { ...ofTurn, approvalId: "a1", itemId: "i2", resolution } },
    ]);
    expect({ rules: state.rules, grants: state.grants }).toEqual({ rules, grants });
  });
});

test("turns are counted once each, with the time they worked and not the time they waited", () => {
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

  test("has turns again whose revert was taken back, at the end and once each", () => {
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

  test("comes out of the archive", () => {
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

  test("is not changed by what only tells the user something", () => {
    const state = after(STARTED);
    const told: EventBody[] = [
      { type: "turn/plan/updated", data: { ...ofTurn, explanation: "", plan: [] } },
      { type: "turn/diff/updated", data: { ...ofTurn, diff: "" } },
      { type: "error", data: { ...ofTurn, error: { message: "No." }, willRetry: true } },
      { type: "model/rerouted", data: { ...ofTurn, fromModel: "a", toModel: "b", reason: "" } },
    ];
    expect(after(told, state)).toEqual({ ...state, seq: 6 });
    const live: ThreadEvent = { type: "warning", data: { threadId: "t1", message: "", reason: "" }, at: 1 };
    expect(reduceThread(state, live)).toBe(state);
  });
});

describe("text", () => {
  test.each([
    ["", "abc", 0, "abc"],
    ["abc", "def", 3, "abcdef"],
    ["abc", "abc", 0, "abc"],
    ["abc", "b", 1, "abc"],
    ["abc", "cde", 2, "abcde"],
  ])("%j extended by %j at %i is %j", (text, piece, offset, expected) => {
    expect(appendAt(text, piece, offset)).toBe(expected);
  });

  test("for lists is one line of at most 160 characters", () => {
    expect(previewOf("  Fix\n\tthe   bug ")).toBe("Fix the bug");
    expect(previewOf("x".repeat(160))).toBe("x".repeat(160));
    expect(previewOf("x".repeat(161))).toBe(`${"x".repeat(159)}…`);
  });
});
