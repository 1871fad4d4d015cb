import type { ModelPart } from "@flint/agent/model";
import type { DriverEvent } from "@flint/core/ports";
import { expect, test } from "vitest";
import { beginTurn, endTurn, showPlan, step, takeItemId } from "./translate.ts";

/** The events of a turn with these parts. */
function translate(parts: readonly ModelPart[]): DriverEvent[] {
  let state = beginTurn("turn", "/w", 8192);
  const events: DriverEvent[] = [];
  for (const part of parts) {
    const [next, emitted] = step(state, part);
    state = next;
    events.push(...emitted);
  }
  return [...events, ...endTurn(state)[1]];
}

test("emits text as one message that starts empty and completes whole", () => {
  const parts: ModelPart[] = [
    { type: "text-delta", text: "Good " },
    { type: "text-delta", text: "day." },
    { type: "finish", reason: "stop" },
  ];
  expect(translate(parts)).toEqual([
    { type: "item/started", item: { type: "agentMessage", id: "turn-1", text: "" } },
    { type: "item/agentMessage/delta", itemId: "turn-1", delta: "Good " },
    { type: "item/agentMessage/delta", itemId: "turn-1", delta: "day." },
    { type: "item/completed", item: { type: "agentMessage", id: "turn-1", text: "Good day." } },
  ]);
});

test("emits reasoning as an item that is complete before the text", () => {
  const parts: ModelPart[] = [
    { type: "reasoning-delta", text: "Hm." },
    { type: "text-delta", text: "Yes." },
    { type: "finish", reason: "stop" },
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

test("completes the text before a tool call", () => {
  const call: ModelPart = { type: "tool-call", callId: "c", tool: "shell", input: { command: "ls" } };
  const types = translate([{ type: "text-delta", text: "Look." }, call]).map((event) => event.type);
  expect(types).toEqual(["item/started", "item/agentMessage/delta", "item/completed"]);
});

test("emits one plan item per turn, updated as a whole and completed at the end", () => {
  const pending = [{ step: "Look", status: "inProgress" as const }];
  const done = [{ step: "Look", status: "completed" as const }];
  let state = beginTurn("turn", "/w");
  const events: DriverEvent[] = [];
  for (const [id, explanation, entries] of [
    ["first-id", "first", pending],
    ["second-id", "second", done],
  ] as const) {
    const [next, emitted] = showPlan(state, id, explanation, entries);
    state = next;
    events.push(...emitted);
  }
  expect([...events, ...endTurn(state)[1]]).toEqual([
    { type: "item/started", item: { type: "plan", id: "first-id", text: "1. Look", entries: pending } },
    { type: "turn/plan/updated", explanation: "first", plan: pending },
    { type: "turn/plan/updated", explanation: "second", plan: done },
    { type: "item/completed", item: { type: "plan", id: "first-id", text: "1. Look", entries: done } },
  ]);
});

test("completes the text before a plan", () => {
  const [state] = step(beginTurn("turn", "/w"), { type: "text-delta", text: "Look." });
  const [, events] = showPlan(state, "plan", "", [{ step: "Look", status: "pending" }]);
  expect(events[0]).toEqual({
    type: "item/completed",
    item: { type: "agentMessage", id: "turn-1", text: "Look." },
  });
});

test("emits a non-fatal error when a request is retried", () => {
  const error = { message: "Too many requests.", errorInfo: "UsageLimitExceeded", httpStatusCode: 429 };
  expect(translate([{ type: "retry", error }])).toEqual([{ type: "error", error, willRetry: true }]);
});

test("emits nothing for empty text and provider metadata", () => {
  const parts: ModelPart[] = [
    { type: "text-delta", text: "" },
    { type: "provider-metadata", providerMetadata: { model: "m", content: "signed" } },
  ];
  expect(translate(parts)).toEqual([]);
});

test("reports usage with the context window, and the cost if known", () => {
  const usage = { inputTokens: 3, outputTokens: 4, thinkingTokens: 5 };
  const cost = { amount: 0.25, currency: "USD" };
  const parts: ModelPart[] = [
    { type: "usage", usage },
    { type: "usage", usage, cost },
  ];
  expect(translate(parts)).toEqual([
    { type: "usage", last: usage, modelContextWindow: 8192 },
    { type: "usage", last: usage, modelContextWindow: 8192, cost },
  ]);
});

test("never reuses an item id", () => {
  const [state, taken] = takeItemId(beginTurn("turn", "/w", 1));
  const [, [started]] = step(state, { type: "text-delta", text: "x" });
  expect([taken, started]).toEqual([
    "turn-1",
    expect.objectContaining({ item: expect.objectContaining({ id: "turn-2" }) }),
  ]);
});
