import type { DriverEvent } from "@flint/core/ports";
import { LIMITS } from "@flint/protocol";
import { expect, test } from "vitest";
import {
  beginStream,
  closeText,
  completeText,
  type ItemStream,
  type StreamStep,
  streamText,
  updatePlan,
} from "./translate.ts";

/** The events of several steps, one after the other. */
function run(...steps: readonly ((stream: ItemStream) => StreamStep)[]): DriverEvent[] {
  let stream = beginStream("turn");
  return steps.flatMap((step) => {
    const [next, events] = step(stream);
    stream = next;
    return events;
  });
}

const message = (piece: string, messageId?: string) => (stream: ItemStream) =>
  streamText(stream, "message", piece, messageId);
const reasoning = (piece: string) => (stream: ItemStream) => streamText(stream, "reasoning", piece);
const complete = (text: string) => (stream: ItemStream) => completeText(stream, "message", text);
const close = (stream: ItemStream) => closeText(stream);

/** Returns the events that are emitted for a message that is streamed in pieces. */
function messageEvents(id: string, text: string, ...deltas: readonly string[]): DriverEvent[] {
  return [
    { type: "item/started", item: { type: "agentMessage", id, text: "" } },
    ...deltas.map((delta): DriverEvent => ({ type: "item/agentMessage/delta", itemId: id, delta })),
    { type: "item/completed", item: { type: "agentMessage", id, text } },
  ];
}

test("keeps less of a text once the turn has kept as much as is stored", () => {
  let stream: ItemStream = beginStream("turn");
  const long = "x".repeat(LIMITS.text + 1);
  for (let index = 0; index < 5; index += 1) [stream] = closeText(streamText(stream, "message", long)[0]);
  [stream] = streamText(stream, "message", "x".repeat(LIMITS.lateText + 1));
  [stream] = streamText(stream, "message", "more");
  expect([stream.kept, stream.open?.text.length, stream.open?.length]).toEqual([
    LIMITS.turnText + LIMITS.lateText,
    LIMITS.lateText + 1,
    LIMITS.lateText + 5,
  ]);
});

test("joins the pieces of a message, and completes it when something else begins", () => {
  expect(run(message("He"), message("llo"), reasoning("Hm"), close)).toEqual([
    ...messageEvents("turn-1", "Hello", "He", "llo"),
    { type: "item/started", item: { type: "reasoning", id: "turn-2", content: "" } },
    { type: "item/reasoning/textDelta", itemId: "turn-2", delta: "Hm" },
    { type: "item/completed", item: { type: "reasoning", id: "turn-2", content: "Hm" } },
  ]);
});

test("begins another item for another message, and none for an empty piece", () => {
  expect(run(message("One", "a"), message("", "b"), message("Two", "b"), close)).toEqual([
    ...messageEvents("turn-1", "One", "One"),
    ...messageEvents("turn-2", "Two", "Two"),
  ]);
});

test.each([
  ["was streamed in part", "Hello", messageEvents("turn-1", "Hello", "He", "llo")],
  ["differs from what was streamed", "Hi", messageEvents("turn-1", "Hi", "He")],
])("completes the item of a text that %s", (_case, text, events) => {
  expect(run(message("He"), complete(text))).toEqual(events);
});

test("keeps no more of a text than clients are sent, and still ends with the complete text", () => {
  const long = "x".repeat(LIMITS.text + 1);
  const [{ open }] = streamText(streamText(beginStream("turn"), "message", long)[0], "message", "more");
  expect(open?.text).toBe(long);
  const events = run(message(long), message("more"), complete(`${long}more!`));
  expect(events.at(-2)).toEqual({ type: "item/agentMessage/delta", itemId: "turn-1", delta: "!" });
  expect(events.at(-1)).toMatchObject({ item: { text: `${long}more!` } });
});

test("updates a plan as one item", () => {
  const entries = [{ step: "look", status: "pending" as const }];
  const [plan, events] = updatePlan(undefined, "turn-1", entries, "why");
  expect(events).toEqual([
    { type: "item/started", item: { type: "plan", id: "turn-1", text: "1. look", entries } },
    { type: "turn/plan/updated", explanation: "why", plan: entries },
  ]);
  expect(updatePlan(plan, "turn-2", [])).toEqual([
    { ...plan, text: "", entries: [] },
    [{ type: "turn/plan/updated", explanation: "", plan: [] }],
  ]);
});
