import type { FileUpdateChange, Item, ThreadEvent, ThreadItem } from "@flint/protocol";
import { TestClock } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { notification, statusChanged } from "../events/events.ts";
import { DeferredStart, DeferredUsage, FileChangeOrder, type Line, StatusChanges } from "./stages.ts";

describe("a client that is asked about a file change", () => {
  const CHANGES: FileUpdateChange[] = [{ path: "/w/a", kind: "add", diff: "+a" }];
  const TURN = { threadId: "t", turnId: "1" };

  function edit(id: string, status: Item<"fileChange">["status"] = "inProgress"): Item<"fileChange"> {
    return { type: "fileChange", id, changes: CHANGES, status };
  }

  function started(id: string, threadId = "t"): ThreadEvent {
    return { type: "item/started", data: { ...TURN, threadId, item: edit(id) }, at: 1 };
  }

  function completed(id: string): ThreadEvent {
    return { type: "item/completed", data: { ...TURN, item: edit(id, "completed") }, at: 1 };
  }

  function requested(itemId: string): ThreadEvent {
    const action = { kind: "fileChange", itemId, changes: CHANGES } as const;
    const approval = { id: `ask ${itemId}`, turnId: "1", action, requestedAtMs: 1, expiresAtMs: 2 };
    return { type: "approval/requested", data: { threadId: "t", approval }, at: 1 };
  }

  const ENDED: Extract<ThreadEvent, { type: "turn/completed" }> = {
    type: "turn/completed",
    data: { threadId: "t", turn: { id: "1", status: "completed", items: [] } },
    at: 1,
  };

  test("is sent its start with the request, if it was not before", () => {
    expect(new FileChangeOrder().pass(requested("e"))).toEqual([started("e"), requested("e")]);
  });

  test("is sent its start once, whichever comes first", () => {
    const requestLast = new FileChangeOrder();
    expect(requestLast.pass(started("e"))).toEqual([started("e")]);
    expect(requestLast.pass(requested("e"))).toEqual([requested("e")]);
    const requestFirst = new FileChangeOrder();
    requestFirst.pass(requested("e"));
    expect(requestFirst.pass(started("e"))).toEqual([]);
    expect(requestFirst.pass(completed("e"))).toEqual([completed("e")]);
  });

  test("is sent the start of a later item with the same id, or of one in another thread", () => {
    const files = new FileChangeOrder();
    for (const event of [started("e"), completed("e")]) files.pass(event);
    expect(files.pass(requested("e"))).toEqual([started("e"), requested("e")]);
    expect(files.pass(ENDED)).toEqual([ENDED]);
    expect(files.pass(started("e"))).toEqual([started("e")]);
    expect(files.pass(started("e", "other"))).toEqual([started("e", "other")]);
    files.forget("t");
    expect(files.pass(started("e"))).toEqual([started("e")]);
  });

  test("is sent the start of a change that is being written once it is complete, after updates of its patch [S2-39]", () => {
    const open: ThreadEvent = {
      type: "item/started",
      data: { ...TURN, item: { ...edit("e"), changes: [] } },
      at: 1,
    };
    const updated: ThreadEvent = {
      type: "item/fileChange/patchUpdated",
      data: { ...TURN, itemId: "e", changes: CHANGES },
      at: 1,
    };
    const written = new FileChangeOrder();
    expect(written.pass(open)).toEqual([]);
    const half: ThreadEvent = {
      type: "item/fileChange/patchUpdated",
      data: { ...TURN, itemId: "e", changes: [{ path: "/w/a", kind: "add", diff: "" }] },
      at: 1,
    };
    expect(written.pass(half)).toEqual([half]);
    expect(written.pass(updated)).toEqual([updated]);
    expect(written.pass(requested("e"))).toEqual([started("e"), requested("e")]);
    expect(written.pass(completed("e"))).toEqual([completed("e")]);
    const asked = new FileChangeOrder();
    asked.pass(open);
    expect(asked.pass(requested("e"))).toEqual([started("e"), requested("e")]);
    const ended = new FileChangeOrder();
    ended.pass(open);
    expect(ended.pass(completed("e"))).toEqual([started("e"), completed("e")]);
  });

  test("is sent that start also if a turn of another thread ends in between", () => {
    const files = new FileChangeOrder();
    const item = { ...edit("e"), changes: [] };
    expect(files.pass({ type: "item/started", data: { ...TURN, item }, at: 1 })).toEqual([]);
    const { turn } = ENDED.data;
    files.pass({ ...ENDED, data: { threadId: "other", turn } });
    expect(files.pass(completed("e"))).toEqual([started("e"), completed("e")]);
  });

  test("is sent everything else as it comes", () => {
    const item = {
      type: "commandExecution",
      id: "e",
      command: "ls",
      cwd: "/w",
      status: "inProgress",
    } as const;
    const command: ThreadEvent = { type: "item/started", data: { ...TURN, item }, at: 1 };
    const files = new FileChangeOrder();
    expect([...files.pass(command), ...files.pass(command)]).toEqual([command, command]);
  });
});

describe("token usage", () => {
  test("comes after the item that it paid for", () => {
    const usages = new DeferredUsage();
    const ofTurn = { threadId: "t", turnId: "u" };
    const item: ThreadItem = { type: "agentMessage", id: "m", text: "" };
    const tokens = { inputTokens: 1, outputTokens: 1 };
    const usage: ThreadEvent = {
      type: "thread/tokenUsage/updated",
      data: { ...ofTurn, usage: tokens, last: tokens },
      at: 1,
    };
    const started: ThreadEvent = { type: "item/started", data: { ...ofTurn, item }, at: 1 };
    const completed: ThreadEvent = { type: "item/completed", data: { ...ofTurn, item }, at: 1 };
    const turn = { id: "u", status: "completed", items: [] } as const;
    const ended: ThreadEvent = {
      type: "turn/completed",
      data: { threadId: "t", turn: { ...turn, items: [] } },
      at: 1,
    };
    const events = [usage, started, completed, usage, started, usage, completed, usage, usage, ended];
    expect(events.flatMap((event) => usages.pass(event)).map(({ type }) => type)).toEqual([
      ...["item/started", "item/completed", "thread/tokenUsage/updated", "item/started"],
      ...["item/completed", "thread/tokenUsage/updated", "thread/tokenUsage/updated", "turn/completed"],
    ]);
  });

  test("does not wait for items that are not shown, such as an open task list", () => {
    const usages = new DeferredUsage();
    const ofTurn = { threadId: "t", turnId: "u" };
    const tasks: ThreadItem = { type: "plan", id: "p", text: "", entries: [] };
    const message: ThreadItem = { type: "agentMessage", id: "m", text: "" };
    const tokens = { inputTokens: 1, outputTokens: 1 };
    const item = (type: "item/started" | "item/completed", shown: ThreadItem): ThreadEvent => ({
      ...{ type, data: { ...ofTurn, item: shown }, at: 1 },
    });
    const usage: ThreadEvent = {
      ...{ type: "thread/tokenUsage/updated", data: { ...ofTurn, usage: tokens, last: tokens }, at: 1 },
    };
    const before = [
      item("item/started", tasks),
      item("item/started", message),
      item("item/completed", message),
    ];
    for (const event of before) expect(usages.pass(event)).toEqual([event]);
    expect(usages.pass(usage)).toEqual([usage]);
  });
});

describe("the start of a command", () => {
  const ofTurn = { threadId: "t", turnId: "u" };

  function started(id: string, threadId = "t"): ThreadEvent {
    const item: ThreadItem = { type: "commandExecution", id, command: "ls", cwd: "/w", status: "inProgress" };
    return { type: "item/started", data: { ...ofTurn, threadId, item }, at: 1 };
  }

  function requested(itemId: string): ThreadEvent {
    const action = { kind: "command", itemId, command: "ls", cwd: "/w" } as const;
    const approval = { id: "a", turnId: "u", action, requestedAtMs: 1, expiresAtMs: 2 };
    return { type: "approval/requested", data: { threadId: "t", approval }, at: 5 };
  }

  function staged() {
    const clock = new TestClock();
    const late: ThreadEvent[] = [];
    return { clock, late, stage: new DeferredStart(clock, (event) => late.push(event)) };
  }

  const WAITING: ThreadEvent = {
    type: "thread/status/changed",
    data: { threadId: "t", status: { type: "active", activeFlags: ["waitingOnApproval"] } },
    at: 5,
  };

  test("comes after the waiting status when the user is asked about it", () => {
    const { stage } = staged();
    expect(stage.pass(started("c"))).toEqual([]);
    expect(stage.pass(requested("c"))).toEqual([WAITING, started("c"), requested("c")]);
  });

  test("is passed on late when the user is not asked in time", async () => {
    const { stage, clock, late } = staged();
    stage.pass(started("c"));
    await clock.advance(19);
    expect(late).toEqual([]);
    await clock.advance(1);
    expect(late).toEqual([started("c")]);
    expect(stage.pass(requested("c"))).toEqual([requested("c")]);
  });

  test("is passed on before any other event of its thread, and not for one of another thread", () => {
    const { stage } = staged();
    stage.pass(started("c"));
    expect(stage.pass(started("d", "other"))).toEqual([]);
    expect(stage.pass(started("e"))).toEqual([started("c")]);
    expect(stage.pass(requested("c"))).toEqual([started("e"), requested("c")]);
  });

  test.each(["t", undefined])("is dropped when the client leaves %s", async (threadId) => {
    const { stage, clock, late } = staged();
    stage.pass(started("c"));
    stage.forget(threadId);
    expect(clock.pending).toBe(0);
    await clock.advance(1_000);
    expect(late).toEqual([]);
  });
});

describe("the status of a thread", () => {
  const IDLE = { type: "idle" };
  const ACTIVE = { type: "active", activeFlags: [] };
  const FAILED = { type: "systemError" };

  test("is sent when it changes, and a failure stays until the next turn", () => {
    const statuses = new StatusChanges();
    const changes = [IDLE, ACTIVE, ACTIVE, FAILED, IDLE, ACTIVE, IDLE, IDLE].map((status) =>
      statuses.learn("t", status),
    );
    expect(changes).toEqual([false, true, false, true, false, true, true, false]);
  });

  test("only notifications about a status that the client knows are dropped", () => {
    const statuses = new StatusChanges();
    const line = (message: Line["notification"]): Line => ({ kind: "line", line: "", notification: message });
    const active = line(statusChanged("t", ACTIVE));
    const other = line(notification("thread/archived", { threadId: "t" }));
    const passed = [active, other, active, other].flatMap((each) => statuses.pass(each));
    expect(passed).toEqual([active, other, other]);
  });
});
