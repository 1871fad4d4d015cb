import type { DriverEvent } from "@flint/core/ports";
import { expect, test } from "vitest";
import type { ModelPart } from "./models/model.ts";
import { beginTurn, endTurn, step, takeItemId } from "./translate.ts";

/** The events that a sequence of parts means, in a turn that ends by itself. */
function translate(parts: readonly ModelPart[]): DriverEvent[] {
  let state = beginTurn("turn", 8192);
  const events: DriverEvent[] = [];
  for (const part of parts) {
    const [next, told] = step(state, part);
    state = next;
    events.push(...told);
  }
  return [...events, ...endTurn(state)[1]];
}

test("text becomes one message that starts empty, grows and ends whole", () => {
  const parts: ModelPart[] = [
    { type: "text-delta", text: "Good " },
    { type: "text-delta", text: "day." },
    { type: "finish" },
  ];
  expect(translate(parts)).toEqual([
    { type: "item/started", item: { type: "agentMessage", id: "turn-1", text: "" } },
    { type: "item/agentMessage/delta", itemId: "turn-1", delta: "Good " },
    { type: "item/agentMessage/delta", itemId: "turn-1", delta: "day." },
    { type: "item/completed", item: { type: "agentMessage", id: "turn-1", text: "Good day." } },
  ]);
});

test("reasoning is an item of its own and is complete when text begins", () => {
  const parts: ModelPart[] = [
    { type: "reasoning-delta", text: "Hm." },
    { type: "text-delta", text: "Yes." },
    { type: "finish" },
  ];
  expect(translate(parts)).toEqual([
    { type: "item/started", item: { type: "reasoning", id: "turn-1", content: "" } },
    { type: "item/reasoning/textDelta", itemId: "turn-1", delta: "Hm." },
    { type: "item/completed", item: { type: "reasoning", id: "turn-1", content: "Hm." } },
    { type: "item/started", item: { type: "agentMessage", id: "turn-2", text: "" } },
    { type: "item/agentMessage/delta", itemId: "turn-2", delta: "Yes." },
    { type: "item/completed", item: { type: "agentMessage", id: "turn-2", text: "Yes." } },
  ]);
});

test("text before a tool call is complete before the tool runs", () => {
  const call: ModelPart = { type: "tool-call", callId: "c", tool: "shell", input: { command: "ls" } };
  const types = translate([{ type: "text-delta", text: "Look." }, call]).map((event) => event.type);
  expect(types).toEqual(["item/started", "item/agentMessage/delta", "item/completed"]);
});

test("a plan is one item for the turn, updated whole and completed at the end", () => {
  const pending = [{ step: "Look", status: "inProgress" as const }];
  const done = [{ step: "Look", status: "completed" as const }];
  const parts: ModelPart[] = [
    { type: "plan", explanation: "first", entries: pending },
    { type: "plan", explanation: "second", entries: done },
  ];
  expect(translate(parts)).toEqual([
    { type: "item/started", item: { type: "plan", id: "turn-1", text: "" } },
    { type: "item/plan/delta", itemId: "turn-1", delta: "1. Look" },
    { type: "turn/plan/updated", explanation: "first", plan: pending },
    { type: "turn/plan/updated", explanation: "second", plan: done },
    { type: "item/completed", item: { type: "plan", id: "turn-1", text: "1. Look", entries: done } },
  ]);
});

test("usage carries the size of the context", () => {
  const usage = { inputTokens: 3, outputTokens: 4, thinkingTokens: 5 };
  expect(translate([{ type: "usage", usage }])).toEqual([
    { type: "usage", last: usage, modelContextWindow: 8192 },
  ]);
});

test("ids that are taken for other items are not given again", () => {
  const [state, taken] = takeItemId(beginTurn("turn", 1));
  const [, [started]] = step(state, { type: "text-delta", text: "x" });
  expect([taken, started]).toEqual([
    "turn-1",
    expect.objectContaining({ item: expect.objectContaining({ id: "turn-2" }) }),
  ]);
});
