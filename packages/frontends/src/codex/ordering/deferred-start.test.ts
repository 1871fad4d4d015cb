import type { ThreadEvent, ThreadItem } from "@flint/protocol";
import { TestClock } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { DeferredStart } from "./deferred-start.ts";

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

describe("the start of a command", () => {
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
