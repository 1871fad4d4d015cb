import { describe, expect, test } from "vitest";
import { HARNESS, HARNESS_ITEMS, HarnessItem, HarnessThread, HarnessTurn } from "./harness.ts";
import { ERROR_KINDS, type ErrorKind } from "./wire/errors.ts";

const codeOf = (kind: ErrorKind): number => HARNESS.errorCodes[kind];

describe("the vocabulary of the harness protocol", () => {
  test("has the JSON-RPC header [S1-1]", () => {
    expect({ name: HARNESS.name, header: HARNESS.header }).toEqual({ name: "harness", header: true });
  });

  test("has nine requests, eight notifications and no server requests", () => {
    expect(Object.keys(HARNESS.requests)).toEqual([
      "initialize",
      "thread.create",
      "thread.list",
      "thread.get",
      "turn.start",
      "turn.cancel",
      "approval.respond",
      "background.list",
      "background.stop",
    ]);
    expect(Object.keys(HARNESS.serverNotifications)).toEqual([
      "thread.created",
      "turn.started",
      "turn.completed",
      "turn.error",
      "item.started",
      "item.delta",
      "item.completed",
      "approval.requested",
    ]);
    expect([HARNESS.notifications, HARNESS.serverRequests]).toEqual([{}, {}]);
  });

  test("has six item types", () => {
    expect(Object.keys(HARNESS_ITEMS)).toEqual([
      "user_message",
      "assistant_message",
      "tool_exec",
      "tool_log",
      "approval",
      "artifact",
    ]);
  });
});

describe("the error codes of the harness protocol", () => {
  test("include those of the protocol [S1-32..36]", () => {
    const promised = {
      parseError: codeOf("parseError"),
      invalidRequest: codeOf("invalidRequest"),
      methodNotFound: codeOf("methodNotFound"),
      invalidParams: codeOf("invalidParams"),
      internalError: codeOf("internalError"),
      threadNotFound: codeOf("threadNotFound"),
      turnInProgress: codeOf("turnInProgress"),
      turnNotFound: codeOf("turnNotFound"),
      approvalNotFound: codeOf("approvalNotFound"),
    };
    expect(promised).toEqual({
      parseError: -32700,
      invalidRequest: -32600,
      methodNotFound: -32601,
      invalidParams: -32602,
      internalError: -32603,
      threadNotFound: -32001,
      turnInProgress: -32002,
      turnNotFound: -32003,
      approvalNotFound: -32004,
    });
  });

  test("are shared only by errors that mean the same to a client", () => {
    const kindsByCode = new Map<number, string[]>();
    for (const [kind, code] of Object.entries(HARNESS.errorCodes)) {
      kindsByCode.set(code, [...(kindsByCode.get(code) ?? []), kind].sort());
    }
    const shared = [...kindsByCode.values()].filter((kinds) => kinds.length > 1);
    expect(shared).toEqual([
      ["alreadyInitialized", "invalidRequest"],
      ["notRunning", "turnNotFound"],
    ]);
    expect(Object.keys(HARNESS.errorCodes).sort()).toEqual(Object.keys(ERROR_KINDS).sort());
  });
});

const hello = HARNESS.requests.initialize.params;
const create = HARNESS.requests["thread.create"].params;
const start = HARNESS.requests["turn.start"].params;
const respond = HARNESS.requests["approval.respond"].params;
const text = [{ type: "text", text: "Run the tests" }];
const model = { providerID: "anthropic", modelID: "claude-sonnet" };

describe("params of a client", () => {
  test.each([
    ["initialize without params", hello, undefined],
    ["initialize with a client that has no version", hello, { clientInfo: { name: "demo" } }],
    ["thread.create without params", create, undefined],
    ["thread.create with a title and a folder", create, { title: "Fix it", directory: "/repo" }],
    ["thread.list without params", HARNESS.requests["thread.list"].params, undefined],
    ["turn.start with text alone", start, { threadId: "t1", input: text }],
    ["turn.start with model and agent", start, { threadId: "t1", input: text, model, agent: "code" }],
    ["turn.start with fields of a newer client", start, { threadId: "t1", input: text, mood: "calm" }],
    ["approval.respond with a known decision", respond, { requestId: "t1.a1", decision: "always" }],
  ])("%s is accepted unchanged", (_name, schema, params) => {
    expect(schema.safeParse(params)).toEqual({ success: true, data: params ?? {} });
  });

  test.each([
    ["a client without a name", hello, { clientInfo: {} }],
    ["a folder that is not absolute", create, { directory: "repo" }],
    ["a turn without input", start, { threadId: "t1", input: [] }],
    ["a thread id that could be a path", start, { threadId: "../x", input: text }],
    [
      "a provider with a slash",
      start,
      { threadId: "t1", input: text, model: { ...model, providerID: "a/b" } },
    ],
    ["a model without a name", start, { threadId: "t1", input: text, model: { ...model, modelID: "" } }],
    ["an unknown decision", respond, { requestId: "t1.a1", decision: "yes" }],
  ])("%s is rejected", (_name, schema, params) => {
    expect(schema.safeParse(params).success).toBe(false);
  });
});

describe("the schemas of the harness protocol", () => {
  const time = { created: 1, updated: 2 };
  test.each([
    ["a thread", HarnessThread, { threadId: "t1", title: "", directory: "/repo", time }],
    [
      "a running turn",
      HarnessTurn,
      { turnId: "u1", threadId: "t1", status: "running", time: { started: 1 } },
    ],
    [
      "an ended turn",
      HarnessTurn,
      { turnId: "u1", threadId: "t1", status: "error", time: { started: 1, completed: 2 } },
    ],
    [
      "an item without data",
      HarnessItem,
      { itemId: "i1", threadId: "t1", turnId: "u1", type: "user_message" },
    ],
  ])("%s has the fields of the protocol [S1-26..28]", (_name, schema, value) => {
    expect(schema.safeParse(value)).toEqual({ success: true, data: value });
    for (const field of Object.keys(value)) {
      expect(schema.safeParse({ ...value, [field]: undefined }).success).toBe(false);
    }
  });
});
