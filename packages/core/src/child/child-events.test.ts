import type { ChildThread, ThreadEvent } from "@flint/protocol";
import { expect, test } from "vitest";
import { ChildEvents } from "./child-events.ts";

const CHILD: ChildThread = {
  ...{ id: "call", turnId: "u1", itemId: "call", preview: "", createdAt: 0, updatedAt: 0 },
  status: "inProgress",
};

const shown = (reason: string) => {
  const event: ThreadEvent = { type: "warning", data: { threadId: "t1", message: "m", reason }, at: 7 };
  return new ChildEvents(CHILD, []).of(event);
};

test("a warning of the parent is not one of its sub-agent", () => {
  for (const reason of ["agent", "configuration", "budgetOverrun"]) expect(shown(reason)).toEqual([]);
});

test("a client that cannot follow the parent cannot follow the sub-agent", () => {
  const data = { threadId: "call", message: "m", reason: "followingFailed" };
  expect(shown("followingFailed")).toEqual([{ type: "warning", data, at: 7 }]);
});
