import type { ThreadEvent, ThreadItem } from "@flint/protocol";
import { TestClock } from "@flint/testkit";
import { expect, test } from "vitest";
import { Encoder } from "../../shared/encoder.ts";
import { type CodexMessage, messagesOf } from "../events/events.ts";
import { RequestedPolicies } from "../wire/policies.ts";
import { Ordering } from "./ordering.ts";

const ofTurn = { threadId: "t", turnId: "u" };
const TOKENS = { inputTokens: 1, outputTokens: 1 };

function item(type: "item/started" | "item/completed", id: string): ThreadEvent {
  const command: ThreadItem = {
    type: "commandExecution",
    id,
    command: "ls",
    cwd: "/w",
    status: "inProgress",
  };
  return { type, data: { ...ofTurn, item: command }, at: 1 };
}

const USAGE: ThreadEvent = {
  type: "thread/tokenUsage/updated",
  data: { ...ofTurn, usage: TOKENS, last: TOKENS },
  at: 1,
};
const TURN_STARTED: ThreadEvent = {
  type: "turn/started",
  data: { threadId: "t", turn: { id: "u", status: "inProgress", items: [] } },
  at: 1,
};
const TURN_COMPLETED: ThreadEvent = {
  type: "turn/completed",
  data: { threadId: "t", turn: { id: "u", status: "completed", items: [] } },
  at: 1,
};

function ordering() {
  const clock = new TestClock();
  const encoder = new Encoder<CodexMessage>(false);
  const sent: string[] = [];
  const stages = new Ordering({
    clock,
    encode: (event) => encoder.encode(event, (each) => messagesOf(each, new RequestedPolicies())),
    send: (message) => sent.push(message.kind === "line" ? message.notification.method : message.kind),
  });
  return { clock, sent, stages };
}

test("events pass all stages, in the order of Codex", async () => {
  const { clock, sent, stages } = ordering();
  for (const event of [TURN_STARTED, item("item/started", "c")]) stages.event(event);
  await clock.advance(20);
  for (const event of [USAGE, item("item/completed", "c"), TURN_COMPLETED]) stages.event(event);
  expect(sent).toEqual([
    "thread/status/changed",
    "turn/started",
    "item/started",
    "item/completed",
    "thread/tokenUsage/updated",
    "thread/status/changed",
    "turn/completed",
  ]);
});

test("a status that the client learned from an answer is not sent", () => {
  const { sent, stages } = ordering();
  stages.learnStatus("t", { type: "active", activeFlags: [] });
  stages.event(TURN_STARTED);
  expect(sent).toEqual(["turn/started"]);
});

test("sends independent events immediately", () => {
  const { clock, sent, stages } = ordering();
  stages.immediate(item("item/started", "c"));
  stages.immediate(USAGE);
  expect({ sent, timers: clock.pending }).toEqual({
    sent: ["item/started", "thread/tokenUsage/updated"],
    timers: 0,
  });
});
