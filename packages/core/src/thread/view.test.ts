import { emptyThread, LIMITS, type Thread, type ThreadEvent, type Turn } from "@flint/protocol";
import { expect, test } from "vitest";
import { hasSameListing, isSameStatus, keepLatestTurn, textLength, withAllItems } from "./view.ts";

const ended: Turn = { id: "u", status: "completed", items: [], itemsView: "notLoaded" };
const event: ThreadEvent = { type: "turn/completed", data: { threadId: "t", turn: ended }, seq: 9, at: 1 };
const { thread } = emptyThread("t");

function stateWith(text: string) {
  const turn: Turn = { ...ended, items: [{ type: "agentMessage", id: "m", text }], itemsView: undefined };
  return { ...emptyThread("t"), turns: [turn] };
}

test("withAllItems adds the items of a completed turn, unless they are too large for one message", () => {
  expect(withAllItems(event, stateWith("hi"))).toEqual({
    ...event,
    data: {
      threadId: "t",
      turn: { ...ended, items: [{ type: "agentMessage", id: "m", text: "hi" }], itemsView: "full" },
    },
  });
  expect(withAllItems(event, stateWith("x".repeat(LIMITS.turnItems)))).toBe(event);
});

test("keepLatestTurn drops older turns", () => {
  const state = { ...emptyThread("t"), turns: [ended, { ...ended, id: "v" }] };
  expect(keepLatestTurn(state).turns.map((turn) => turn.id)).toEqual(["v"]);
  const single = stateWith("hi");
  expect(keepLatestTurn(single)).toBe(single);
});

test("hasSameListing is true until something other than the status changes", () => {
  expect(hasSameListing(thread, thread)).toBe(true);
  expect(hasSameListing(thread, { ...thread, status: { type: "active" } })).toBe(true);
  const changes: Partial<Thread>[] = [{ name: "n" }, { archived: true }, { updatedAt: 5 }, { preview: "p" }];
  for (const change of changes) expect(hasSameListing(thread, { ...thread, ...change })).toBe(false);
  expect(hasSameListing({ ...thread, name: "n" }, thread)).toBe(false);
});

test("isSameStatus compares the type and what it waits for", () => {
  const active = { type: "active", activeFlags: [] } as const;
  expect(isSameStatus({ ...active, activeFlags: [] }, { type: "active" })).toBe(true);
  expect(isSameStatus({ type: "idle" }, { type: "active" })).toBe(false);
  expect(isSameStatus({ type: "active", activeFlags: ["waitingOnApproval"] }, { type: "active" })).toBe(
    false,
  );
});

test("textLength is that of the field that a delta would extend", () => {
  const target = { threadId: "t", turnId: "u", itemId: "m" };
  const state = stateWith("four");
  expect(textLength(state, { ...target, type: "item/agentMessage/delta" })).toBe(4);
  expect(textLength(state, { ...target, type: "item/reasoning/textDelta" })).toBe(0);
  expect(textLength(state, { ...target, itemId: "other", type: "item/agentMessage/delta" })).toBe(0);
});
