import type { FileUpdateChange, Item, ThreadEvent } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { FileChangeOrder } from "./file-change-order.ts";

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

const ENDED: ThreadEvent = {
  type: "turn/completed",
  data: { threadId: "t", turn: { id: "1", status: "completed", items: [] } },
  at: 1,
};

describe("a client that is asked about a file change", () => {
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
