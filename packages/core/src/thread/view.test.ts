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

test("the end of a turn is told with all items, unless they are too many for one message", () => {
  expect(withAllItems(event, stateWith("hi"))).toEqual({
    ...event,
    data: {
      threadId: "t",
      turn: { ...ended, items: [{ type: "agentMessage", id: "m", text: "hi" }], itemsView: "full" },
    },
  });
  expect(withAllItems(event, stateWith("x".repeat(LIMITS.turnItems)))).toBe(event);
});

test("memory holds only the latest turn", () => {
  const state = { ...emptyThread("t"), turns: [ended, { ...ended, id: "v" }] };
  expect(keepLatestTurn(state).turns.map((turn) => turn.id)).toEqual(["v"]);
  const single = stateWith("hi");
  expect(keepLatestTurn(single)).toBe(single);
});

test("a list shows a thread alike until something of it but its status changes", () => {
  expect(hasSameListing(thread, thread)).toBe(true);
  expect(hasSameListing(thread, { ...thread, status: { type: "active" } })).toBe(true);
  const changes: Partial<Thread>[] = [{ name: "n" }, { archived: true }, { updatedAt: 5 }, { preview: "p" }];
  for (const change of changes) expect(hasSameListing(thread, { ...thread, ...change })).toBe(false);
  expect(hasSameListing({ ...thread, name: "n" }, thread)).toBe(false);
});

test("a status is the same while it waits for the same", () => {
  const active = { type: "active", activeFlags: [] } as const;
  expect(isSameStatus({ ...active, activeFlags: [] }, { type: "active" })).toBe(true);
  expect(isSameStatus({ type: "idle" }, { type: "active" })).toBe(false);
  expect(isSameStatus({ type: "active", activeFlags: ["waitingOnApproval"] }, { type: "active" })).toBe(
    false,
  );
});

test("the length of a text is that of the field that a piece would extend", () => {
  const place = { threadId: "t", turnId: "u", itemId: "m" };
  const state = stateWith("four");
  expect(textLength(state, { ...place, type: "item/agentMessage/delta" })).toBe(4);
  expect(textLength(state, { ...place, type: "item/reasoning/textDelta" })).toBe(0);
  expect(textLength(state, { ...place, itemId: "other", type: "item/agentMessage/delta" })).toBe(0);
});
