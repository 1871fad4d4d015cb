import {
  type EventBody,
  HARNESS,
  type HarnessItem,
  type HarnessNotification,
  type Item,
  type StoredEvent,
  type Thread,
  type ThreadSettings,
  type Turn,
} from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { events as translated } from "./events.ts";
import { historyOf } from "./frontend.ts";

const ofTurn = { threadId: "t1", turnId: "u1" };

const thread: Thread = {
  id: "t1",
  preview: "",
  name: "Tests",
  modelProvider: "offline",
  model: "offline/rules",
  cwd: "/repo",
  createdAt: 1,
  updatedAt: 1,
  archived: false,
  ephemeral: false,
  status: { type: "idle" },
};
const settings: ThreadSettings = {
  model: "offline/rules",
  cwd: "/repo",
  approvalPolicy: "always",
  sandboxPolicy: { type: "readOnly" },
  config: {},
};
const running: Turn = { id: "u1", status: "inProgress", items: [], startedAtMs: 1000 };
const ended: Turn = { ...running, status: "completed", completedAtMs: 2000, durationMs: 1000 };
const input: Item<"userMessage"> = {
  type: "userMessage",
  id: "i1",
  content: [{ type: "text", text: "Run the tests" }],
};
const command = {
  type: "commandExecution",
  id: "i2",
  command: "npm test",
  cwd: "/repo",
  status: "inProgress",
} as const;
const commandDone = {
  ...command,
  status: "completed",
  exitCode: 0,
  aggregatedOutput: "ok 1\nok 2\n",
} as const;
const action = { kind: "command", itemId: "i2", command: "npm test", cwd: "/repo" } as const;

/** The events of one turn: a prompt, a command that needs approval, and a message of the agent. */
const TURN: readonly EventBody[] = [
  { type: "thread/started", data: { thread, settings } },
  { type: "turn/started", data: { threadId: "t1", turn: running } },
  { type: "item/started", data: { ...ofTurn, item: input } },
  { type: "item/completed", data: { ...ofTurn, item: input } },
  { type: "item/started", data: { ...ofTurn, item: command } },
  {
    type: "approval/requested",
    data: {
      threadId: "t1",
      approval: { id: "a1", turnId: "u1", action, requestedAtMs: 1006, expiresAtMs: 9006 },
    },
  },
  {
    type: "approval/resolved",
    data: {
      ...ofTurn,
      approvalId: "a1",
      itemId: "i2",
      resolution: { decision: { outcome: "allow", scope: "once" }, by: "client", clientId: "c1" },
    },
  },
  {
    type: "item/commandExecution/outputDelta",
    data: { ...ofTurn, itemId: "i2", delta: "ok 1\n", offset: 0 },
  },
  {
    type: "item/commandExecution/outputDelta",
    data: { ...ofTurn, itemId: "i2", delta: "ok 2\n", offset: 5 },
  },
  { type: "item/completed", data: { ...ofTurn, item: commandDone } },
  { type: "item/started", data: { ...ofTurn, item: { type: "agentMessage", id: "i3", text: "" } } },
  { type: "item/agentMessage/delta", data: { ...ofTurn, itemId: "i3", delta: "All ", offset: 0 } },
  { type: "item/agentMessage/delta", data: { ...ofTurn, itemId: "i3", delta: "pass.", offset: 4 } },
  {
    type: "item/completed",
    data: { ...ofTurn, item: { type: "agentMessage", id: "i3", text: "All pass." } },
  },
  { type: "turn/completed", data: { threadId: "t1", turn: ended } },
];

/** The same turn on the harness wire, message for message. */
const SENT: readonly (readonly [HarnessNotification, object])[] = [
  [
    "thread.created",
    {
      thread: {
        threadId: "t1",
        title: "Tests",
        directory: "/repo",
        time: { created: 1000, updated: 1000 },
      },
    },
  ],
  ["turn.started", { turn: { turnId: "u1", threadId: "t1", status: "running", time: { started: 1000 } } }],
  ["item.started", userMessage()],
  ["item.completed", userMessage()],
  ["item.started", exec({ status: "inProgress" })],
  ["item.started", log("")],
  ["item.started", approval({ action })],
  [
    "approval.requested",
    { requestId: "t1.a1", threadId: "t1", turnId: "u1", itemId: "i2", action, expiresAt: 9006 },
  ],
  [
    "item.completed",
    approval({ decision: "once", by: "client", resolution: { outcome: "allow", scope: "once" } }),
  ],
  ["item.delta", delta("i2.log", "tool_log", "output", "ok 1\n", 0)],
  ["item.delta", delta("i2.log", "tool_log", "output", "ok 2\n", 5)],
  ["item.completed", log("ok 1\nok 2\n")],
  ["item.completed", exec({ status: "completed", exitCode: 0 })],
  ["item.started", item("i3", "assistant_message", { text: "" })],
  ["item.delta", delta("i3", "assistant_message", "text", "All ", 0)],
  ["item.delta", delta("i3", "assistant_message", "text", "pass.", 4)],
  ["item.completed", item("i3", "assistant_message", { text: "All pass." })],
  [
    "turn.completed",
    {
      turn: {
        turnId: "u1",
        threadId: "t1",
        status: "completed",
        time: { started: 1000, completed: 2000 },
      },
    },
  ],
];

function item(itemId: string, type: HarnessItem["type"], data: object): { item: HarnessItem } {
  return { item: { itemId, ...ofTurn, type, data: { ...data } } };
}

function userMessage() {
  return item("i1", "user_message", {
    text: "Run the tests",
    content: [{ type: "text", text: "Run the tests" }],
  });
}

function exec(outcome: object) {
  return item("i2", "tool_exec", {
    kind: "commandExecution",
    tool: "bash",
    command: "npm test",
    cwd: "/repo",
    logItemId: "i2.log",
    ...outcome,
  });
}

function log(output: string) {
  return item("i2.log", "tool_log", { toolItemId: "i2", output });
}

function approval(rest: object) {
  return item("t1.a1", "approval", { requestId: "t1.a1", toolItemId: "i2", ...rest });
}

function delta(itemId: string, itemType: HarnessItem["type"], field: string, text: string, offset?: number) {
  const position = offset === undefined ? {} : { offset };
  return { itemId, ...ofTurn, itemType, field, delta: text, ...position };
}

function stored(body: EventBody, index: number): StoredEvent {
  return { ...body, seq: index + 1, at: 1001 + index };
}

describe("a whole turn with a command, an approval and an answer", () => {
  const messages = TURN.flatMap((body, index) => translated(stored(body, index)));

  test("is sent message for message [S1-12..14, S1-16..24]", () => {
    expect(messages).toStrictEqual(
      SENT.map(([method, params]) => ({ kind: "notification", method, params })),
    );
  });

  test("is sent in messages of the vocabulary [S1-26..28]", () => {
    for (const { method, params } of messages) {
      expect(HARNESS.serverNotifications[method].params.safeParse(params)).toEqual({
        success: true,
        data: params,
      });
    }
  });

  test("starts each item once and completes it once", () => {
    const idsOf = (name: HarnessNotification) =>
      SENT.flatMap(([method, params]) =>
        method === name && "item" in params ? [Reflect.get(Object(params.item), "itemId")] : [],
      ).sort();
    expect(idsOf("item.completed")).toEqual(idsOf("item.started"));
    expect(new Set(idsOf("item.started")).size).toBe(idsOf("item.started").length);
  });

  test("is the same in the history of the thread, resolved approvals included [S1-7]", () => {
    const log = TURN.map(stored);
    const times = log.flatMap((event) => translated(event).map(() => event.at));
    expect(historyOf(log)).toStrictEqual(
      SENT.map(([type, params], index) => ({ type, time: times[index], ...params })),
    );
  });

  test("leaves out of its history what this version cannot read", () => {
    const log = [
      { seq: 1, at: 1, type: "thread/dreamt", data: { threadId: "t1" } },
      { seq: 2, at: 2, type: "turn/started", data: { threadId: "t1" } },
      { seq: 3, at: 3, type: "turn/started", data: { threadId: "t1", turn: running } },
    ];
    expect(historyOf(log).map(({ type, time }) => [type, time])).toEqual([["turn.started", 3]]);
  });
});
