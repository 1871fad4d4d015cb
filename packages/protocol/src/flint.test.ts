import { describe, expect, test } from "vitest";
import { EVENTS, isEventType } from "./events.ts";
import { ASKS, type Ask, FLINT } from "./flint.ts";
import { METHODS } from "./methods.ts";
import { ERROR_KINDS } from "./wire/errors.ts";

const asked = { threadId: "t1", turnId: "u1", itemId: "i1", approvalId: "a1" };
const command = { ...asked, command: "npm test", cwd: "/repo" };
const changes = [{ path: "/repo/a.ts", kind: "add", diff: "+a" }];
const needed = (ask: Ask, params: object): string[] =>
  Object.keys(params).filter(
    (field) => !ASKS[ask].params.safeParse({ ...params, [field]: undefined }).success,
  );
const accepts = (ask: Ask, decision: unknown): boolean => ASKS[ask].result.safeParse({ decision }).success;

describe("the vocabulary of Flint", () => {
  test("refers to the tables themselves, not to copies [S4-46]", () => {
    expect(FLINT.requests).toBe(METHODS);
    expect(FLINT.serverRequests).toBe(ASKS);
    for (const [name, row] of Object.entries(FLINT.serverNotifications)) {
      expect(isEventType(name) && row.params === EVENTS[name].data, name).toBe(true);
    }
  });

  test("has no JSON-RPC header", () => {
    expect([FLINT.name, FLINT.header]).toEqual(["flint", false]);
  });

  test("has all 11 methods, 1 and 13 notifications and 2 server requests of the protocol [S0-90]", () => {
    const methods = [
      "initialize",
      "thread/start",
      "thread/resume",
      "thread/list",
      "thread/archive",
      "turn/start",
      "turn/interrupt",
      "model/list",
      "config/list",
      "config/set",
      "config/read",
    ];
    const notifications = [
      "thread/started",
      "turn/started",
      "turn/completed",
      "turn/plan/updated",
      "thread/tokenUsage/updated",
      "item/started",
      "item/completed",
      "item/agentMessage/delta",
      "item/reasoning/textDelta",
      "item/reasoning/summaryTextDelta",
      "item/commandExecution/outputDelta",
      "item/fileChange/outputDelta",
      "item/plan/delta",
    ];
    const asks = ["item/commandExecution/requestApproval", "item/fileChange/requestApproval"];
    expect(Object.keys(FLINT.requests)).toEqual(expect.arrayContaining(methods));
    expect(Object.keys(FLINT.notifications)).toEqual(["initialized"]);
    expect(Object.keys(FLINT.serverNotifications)).toEqual(expect.arrayContaining(notifications));
    expect(Object.keys(FLINT.serverRequests)).toEqual(expect.arrayContaining(asks));
    expect([methods.length, notifications.length, asks.length]).toEqual([11, 13, 2]);
  });

  test("has `initialized` with empty params [S0-19]", () => {
    expect(FLINT.notifications.initialized.params.parse({})).toEqual({});
  });

  test("does not contain the agents' own notifications", () => {
    expect(Object.keys(FLINT.serverNotifications)).not.toContain("extension/notified");
  });
});

describe("the error codes of Flint", () => {
  test("include the five of JSON-RPC [S0-82]", () => {
    const { parseError, invalidRequest, methodNotFound, invalidParams, internalError } = FLINT.errorCodes;
    expect([parseError, invalidRequest, methodNotFound, invalidParams, internalError]).toEqual([
      -32700, -32600, -32601, -32602, -32603,
    ]);
  });

  test("include the four of the protocol [S0-83]", () => {
    const { notInitialized, threadNotFound, turnInProgress, notRunning } = FLINT.errorCodes;
    expect({ notInitialized, threadNotFound, turnInProgress, notRunning }).toEqual({
      notInitialized: -32000,
      threadNotFound: -32001,
      turnInProgress: -32002,
      notRunning: -32003,
    });
  });

  test("are unique, except that a second initialize is an invalid request", () => {
    const { alreadyInitialized, ...others } = FLINT.errorCodes;
    expect(Object.keys(FLINT.errorCodes).sort()).toEqual(Object.keys(ERROR_KINDS).sort());
    expect(new Set(Object.values(others)).size).toBe(Object.keys(others).length);
    expect(alreadyInitialized).toBe(others.invalidRequest);
  });
});

describe("a request of the server", () => {
  test("a command is shown whole, with its folder and an optional reason [S0-53]", () => {
    const ask = "item/commandExecution/requestApproval";
    const reasoned = { ...command, reason: "to see whether it works" };
    expect([ASKS[ask].params.parse(command), ASKS[ask].params.parse(reasoned)]).toEqual([command, reasoned]);
    expect(needed(ask, reasoned)).toEqual(["threadId", "turnId", "itemId", "approvalId", "command", "cwd"]);
  });

  test("a file change is shown with all its changes and an optional reason [S0-59]", () => {
    const ask = "item/fileChange/requestApproval";
    const params = { ...asked, changes, reason: "to fix it" };
    expect(ASKS[ask].params.parse(params)).toEqual(params);
    expect(needed(ask, params)).toEqual(["threadId", "turnId", "itemId", "approvalId", "changes"]);
  });

  test("a command is answered with accept or decline [S0-54]", () => {
    const ask = "item/commandExecution/requestApproval";
    expect(["accept", "decline"].filter((word) => !accepts(ask, word))).toEqual([]);
    expect(["yes", "", true, null, undefined, "Accept"].filter((word) => accepts(ask, word))).toEqual([]);
  });

  test("a file change is answered with accept, acceptForSession or decline [S0-60]", () => {
    const ask = "item/fileChange/requestApproval";
    expect(["accept", "acceptForSession", "decline"].filter((word) => !accepts(ask, word))).toEqual([]);
    expect(["once", "", true, null].filter((word) => accepts(ask, word))).toEqual([]);
  });

  test("every approval can be answered with a whole decision, be always allowed, or be cancelled", () => {
    const decisions = ["acceptAlways", "cancel", { outcome: "deny", message: "Not here." }];
    expect(decisions.filter((decision) => !accepts("item/toolCall/requestApproval", decision))).toEqual([]);
  });

  test("a tool call is shown with its server and arguments", () => {
    const params = { ...asked, tool: "search", server: "docs", arguments: { query: "x" } };
    expect(ASKS["item/toolCall/requestApproval"].params.parse(params)).toEqual(params);
    expect(needed("item/toolCall/requestApproval", params)).toEqual([...Object.keys(asked), "tool"]);
  });

  test("questions are answered one by one, each with a list", () => {
    const { params, result } = ASKS["item/tool/requestUserInput"];
    const place = { threadId: "t1", turnId: "u1", itemId: "i1", questionId: "q1" };
    const request = { ...place, questions: [{ id: "where", question: "Where to?" }] };
    expect(params.parse(request)).toEqual(request);
    expect(result.parse({ answers: { where: { answers: ["staging"] } } })).toEqual({
      answers: { where: { answers: ["staging"] } },
    });
    expect(result.safeParse({ answers: { where: "staging" } }).success).toBe(false);
  });
});
