import type { FileUpdateChange, Item, ThreadEvent } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { AnnouncedFiles } from "./announced-files.ts";

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

function asked(itemId: string): ThreadEvent {
  const action = { kind: "fileChange", itemId, changes: CHANGES } as const;
  const approval = { id: `ask ${itemId}`, turnId: "1", action, requestedAtMs: 1, expiresAtMs: 2 };
  return { type: "approval/requested", data: { threadId: "t", approval }, at: 1 };
}

const ENDED: ThreadEvent = {
  type: "turn/completed",
  data: { threadId: "t", turn: { id: "1", status: "completed", items: [] } },
  at: 1,
};

describe("a client that is asked about changes of files", () => {
  test("is told of them with the question, if it was not before", () => {
    expect(new AnnouncedFiles().inOrder(asked("e"))).toEqual([started("e"), asked("e")]);
  });

  test("is told of them once, whichever comes first", () => {
    const questionLast = new AnnouncedFiles();
    expect(questionLast.inOrder(started("e"))).toEqual([started("e")]);
    expect(questionLast.inOrder(asked("e"))).toEqual([asked("e")]);
    const questionFirst = new AnnouncedFiles();
    questionFirst.inOrder(asked("e"));
    expect(questionFirst.inOrder(started("e"))).toEqual([]);
    expect(questionFirst.inOrder(completed("e"))).toEqual([completed("e")]);
  });

  test("is told anew of what has the same name later, or in another thread", () => {
    const files = new AnnouncedFiles();
    for (const event of [started("e"), completed("e")]) files.inOrder(event);
    expect(files.inOrder(asked("e"))).toEqual([started("e"), asked("e")]);
    expect(files.inOrder(ENDED)).toEqual([ENDED]);
    expect(files.inOrder(started("e"))).toEqual([started("e")]);
    expect(files.inOrder(started("e", "other"))).toEqual([started("e", "other")]);
    files.forget("t");
    expect(files.inOrder(started("e"))).toEqual([started("e")]);
  });

  test("hears of everything else as it comes", () => {
    const item = {
      type: "commandExecution",
      id: "e",
      command: "ls",
      cwd: "/w",
      status: "inProgress",
    } as const;
    const command: ThreadEvent = { type: "item/started", data: { ...TURN, item }, at: 1 };
    const files = new AnnouncedFiles();
    expect([...files.inOrder(command), ...files.inOrder(command)]).toEqual([command, command]);
  });
});
