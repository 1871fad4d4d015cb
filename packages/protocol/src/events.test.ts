import { describe, expect, test } from "vitest";
import {
  EVENTS,
  type EventType,
  isDelta,
  isEventType,
  LoggedEvent,
  type Persistence,
  persistenceOf,
  threadIdOf,
} from "./events.ts";
import { DELTA_FIELDS } from "./items.ts";
import { ofTurn, thread } from "./testing/thread-events.ts";

const settings = {
  model: "flint/offline",
  cwd: "/repo",
  approvalPolicy: "always",
  sandboxPolicy: { type: "readOnly" },
  config: {},
};
const turn = { id: "u1", status: "inProgress", items: [] };
const item = { type: "agentMessage", id: "i1", text: "Hello" };
const usage = { inputTokens: 1, outputTokens: 2 };
const delta = { ...ofTurn, itemId: "i1", delta: "text", offset: 0 };

/** The events of the protocol: a real payload of each, and the fields that a client can count on. */
const PROMISED: readonly (readonly [EventType, object, readonly string[]])[] = [
  ["thread/started", { thread, settings }, ["thread"]],
  ["turn/started", { threadId: "t1", turn }, ["threadId", "turn"]],
  [
    "turn/completed",
    { threadId: "t1", turn: { ...turn, status: "completed", items: [item] } },
    ["threadId", "turn"],
  ],
  [
    "turn/plan/updated",
    { ...ofTurn, explanation: "", plan: [{ step: "Look", status: "completed" }] },
    ["threadId", "turnId", "explanation", "plan"],
  ],
  ["thread/tokenUsage/updated", { ...ofTurn, usage, last: usage }, ["threadId", "turnId", "usage"]],
  ["item/started", { ...ofTurn, item }, ["threadId", "turnId", "item"]],
  ["item/completed", { ...ofTurn, item }, ["threadId", "turnId", "item"]],
  ["item/agentMessage/delta", delta, ["threadId", "turnId", "itemId", "delta"]],
  ["item/reasoning/textDelta", delta, ["threadId", "turnId", "itemId", "delta"]],
  ["item/reasoning/summaryTextDelta", delta, ["threadId", "turnId", "itemId", "delta"]],
  ["item/commandExecution/outputDelta", delta, ["threadId", "turnId", "itemId", "delta"]],
  ["item/fileChange/outputDelta", delta, ["threadId", "turnId", "itemId", "delta"]],
  ["item/plan/delta", delta, ["threadId", "turnId", "itemId", "delta"]],
];

describe("the thirteen notifications of the protocol", () => {
  test("are all defined", () => {
    expect(PROMISED).toHaveLength(13);
    expect(PROMISED.filter(([name]) => !isEventType(name))).toEqual([]);
  });

  test.each(PROMISED)(
    "%s has its documented fields and passes others through [S0-39, S0-42, S0-43, S0-46, S0-48, S0-49, S0-52, S0-58, S0-65, S0-66, S0-80]",
    (name, payload, fields) => {
      const schema = EVENTS[name].data;
      const extended = { ...payload, _meta: { trace: 1 }, newField: true };
      expect([schema.parse(payload), schema.parse(extended)]).toEqual([payload, extended]);
      expect(fields.filter((field) => schema.safeParse({ ...payload, [field]: undefined }).success)).toEqual(
        [],
      );
    },
  );

  test("a failed turn has a reason, with optional kind and HTTP status [S0-84]", () => {
    const error = { message: "Too long.", errorInfo: "ContextWindowExceeded", httpStatusCode: 400 };
    const failed = (why: object) => ({ threadId: "t1", turn: { ...turn, status: "failed", error: why } });
    const schema = EVENTS["turn/completed"].data;
    expect(schema.parse(failed(error))).toEqual(failed(error));
    expect(schema.parse(failed({ message: "Too long." }))).toEqual(failed({ message: "Too long." }));
    expect(schema.safeParse(failed({ errorInfo: "Other" })).success).toBe(false);
    expect(schema.safeParse(failed({ ...error, httpStatusCode: "400" })).success).toBe(false);
  });
});

describe("the persistence of events", () => {
  const eventsWith = (how: Persistence): string[] =>
    Object.keys(EVENTS).filter((name) => isEventType(name) && persistenceOf(name) === how);

  test("streamed text is coalesced, and nothing else is", () => {
    expect(eventsWith("coalesced")).toEqual([...DELTA_FIELDS.keys()]);
  });

  test("what must not be lost is synced to disk before it is sent", () => {
    expect(eventsWith("synced")).toEqual([
      "turn/completed",
      "approval/resolved",
      "grant/changed",
      "question/resolved",
      "tool/resolved",
    ]);
  });

  test("what only describes the moment is not stored", () => {
    expect(eventsWith("live")).toEqual([
      "thread/deleted",
      "thread/closed",
      "thread/status/changed",
      "item/fileChange/patchUpdated",
      "item/mcpToolCall/progress",
      "warning",
      "config/updated",
      "account/login/completed",
      "account/updated",
      "account/limits",
      "task/event",
      "extension/notified",
    ]);
  });

  test("a text delta is distinguished from other events", () => {
    expect(isDelta({ type: "item/plan/delta", data: delta })).toBe(true);
    expect(isDelta({ type: "warning", data: { threadId: "t1", message: "", reason: "" } })).toBe(false);
  });
});

describe("an event", () => {
  test("names its thread, if it has one", () => {
    expect(threadIdOf({ type: "config/updated", data: { options: [] } })).toBeUndefined();
    expect(threadIdOf({ type: "thread/archived", data: { threadId: "t2" } })).toBe("t2");
    const started = EVENTS["thread/started"].data.parse({ thread, settings });
    expect(threadIdOf({ type: "thread/started", data: started })).toBe("t1");
  });

  test.each(["toString", "__proto__", "turn/begun", ""])("%j is not the name of one", (name) => {
    expect(isEventType(name)).toBe(false);
  });

  test("in the log has its position and time beside its data", () => {
    const logged = { seq: 3, at: 1_700_000_000_000, type: "item/started", data: { ...ofTurn, item } };
    expect(LoggedEvent.parse(logged)).toEqual(logged);
    expect(LoggedEvent.safeParse({ ...logged, seq: undefined }).success).toBe(false);
  });
});
