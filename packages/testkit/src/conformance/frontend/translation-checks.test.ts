import { FLINT, FlintError, METHODS, type ThreadEvent } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { describeTranslation } from "./suite.ts";
import {
  type CheckedCall,
  type CheckedMessage,
  type CheckedRequest,
  type CheckedTables,
  checkConsents,
  checkErrorCodes,
  checkEvents,
  checkExtensions,
  checkJunkAnswers,
  checkRequest,
  checkRequestNames,
  checkResolving,
} from "./translation-checks.ts";

const ASK = "item/toolCall/requestApproval";
const CONSENTS = { [ASK]: [{ decision: "accept" }] };
const REFUSALS = { [ASK]: [{ decision: "decline" }] };

/** A small front end: two requests, every approval asked in the same way, no questions and no tools, all other events as they are. */
const small: CheckedTables & { readonly requests: object } = {
  vocabulary: {
    ...FLINT,
    name: "small",
    requests: { "turn/interrupt": METHODS["turn/interrupt"], "thread/read": METHODS["thread/read"] },
  },
  requests: {
    "turn/interrupt": (params: object) => call("turn/interrupt", params),
    "thread/read": (params: object) => call("thread/read", params),
  },
  events,
};

function call(
  method: string,
  params: object,
  answer: (result: unknown) => unknown = (result) => result,
): CheckedRequest {
  return { method, params, answer };
}

function events(event: ThreadEvent): readonly CheckedMessage[] {
  switch (event.type) {
    case "approval/requested":
      return [ask(event.data.threadId, event.data.approval)];
    case "approval/resolved":
      return [{ kind: "resolved", key: event.data.approvalId }];
    case "question/requested":
    case "tool/requested":
      return [];
    case "extension/notified":
      return [{ kind: "notification", method: `agent/${event.data.method}`, params: event.data.params }];
    default:
      return [{ kind: "notification", method: event.type, params: event.data }];
  }
}

function ask(
  threadId: string,
  { id, turnId, action }: { id: string; turnId: string; action: { itemId: string } },
) {
  const respond = (outcome: "allow" | "deny"): CheckedCall =>
    call("approval/respond", { threadId, approvalId: id, decision: { outcome } });
  return {
    kind: "ask",
    method: ASK,
    params: { threadId, turnId, approvalId: id, itemId: action.itemId, tool: "any" },
    key: id,
    answered: (answer: unknown) => respond(decisionIn(answer) === "accept" ? "allow" : "deny"),
    refused: () => respond("deny"),
  } as const;
}

function decisionIn(answer: unknown): unknown {
  return typeof answer === "object" && answer !== null ? Reflect.get(answer, "decision") : undefined;
}

/** The small front end with its asks changed. */
function withAsks(
  change: (message: Extract<CheckedMessage, { kind: "ask" }>) => CheckedMessage,
): CheckedTables {
  return {
    ...small,
    events: (event) => events(event).map((message) => (message.kind === "ask" ? change(message) : message)),
  };
}

function telling(message: (event: ThreadEvent) => CheckedMessage): CheckedTables {
  return { ...small, events: (event) => [message(event)] };
}

describeTranslation("a small front end", small, { consents: CONSENTS, refusals: REFUSALS });

describe("the checks of a translation", () => {
  test("notice an event that is not translated", () => {
    const fragile: CheckedTables = {
      ...small,
      events(event) {
        if (event.type === "item/completed" && event.data.item.type === "webSearch")
          throw new Error("cannot do items");
        return events(event);
      },
    };
    expect(() => checkEvents(fragile, "item/completed")).toThrow("cannot do items");
  });

  test("notice a message that the protocol does not have", () => {
    const tables = telling((event) => ({ kind: "notification", method: "made/up", params: event.data }));
    expect(() => checkEvents(tables, "turn/started")).toThrow(
      "made/up is not a message of the small protocol",
    );
  });

  test("notice params that do not fit", () => {
    const tables = telling(() => ({
      kind: "notification",
      method: "turn/started",
      params: { threadId: "a" },
    }));
    expect(() => checkEvents(tables, "turn/started")).toThrow("invalid: the params of turn/started");
  });

  test("notice params that only JSON spoils", () => {
    const tables = telling(({ type, data }) => ({
      kind: "notification",
      method: type,
      params: { ...data, name: () => "x" },
    }));
    expect(() => checkEvents(tables, "thread/name/updated")).toThrow("invalid: the params");
  });

  test("notice a translation that changes the event", () => {
    const tables = telling((event) => ({
      kind: "notification",
      method: event.type,
      params: Object.assign(event.data, { changed: true }),
    }));
    expect(() => checkEvents(tables, "thread/archived")).toThrow("not extensible");
  });

  test("notice a translation with memory", () => {
    let count = 0;
    const tables = telling(({ type, data }) => {
      count += 1;
      return { kind: "notification", method: type, params: { ...data, count } };
    });
    expect(() => checkEvents(tables, "thread/archived")).toThrow("differs the second time");
  });

  test("notice an agent that can send as the server", () => {
    const tables = telling((event) => ({
      kind: "notification",
      method: event.type === "extension/notified" ? event.data.method : event.type,
      params: {},
    }));
    expect(() => checkExtensions(tables)).toThrow("an agent can send thread/started as if Flint did");
  });

  test("notice a request without a call, and a call without a request", () => {
    const { "thread/read": _read, ...fewer } = { ...small.requests, "thread/read": undefined };
    expect(() => checkRequestNames({ ...small, requests: fewer })).toThrow("no call for thread/read");
    const more = { ...small.requests, "thread/dance": () => undefined };
    expect(() => checkRequestNames({ ...small, requests: more })).toThrow("not a request: thread/dance");
  });

  test("notice a call that the core would reject, an answer that does not fit, and a request that is always rejected", () => {
    const withRead = (translate: () => CheckedRequest) => ({
      ...small,
      requests: { "thread/read": translate },
    });
    const read = { threadId: "a" };
    const check = (translate: () => CheckedRequest) => () => checkRequest(withRead(translate), "thread/read");
    expect(check(() => call("thread/read", {}))).toThrow("invalid: the params of the core call thread/read");
    expect(check(() => call("thread/dance", {}))).toThrow("thread/dance is not a method of the core");
    expect(check(() => call("thread/read", read, () => ({})))).toThrow("invalid: the answer to thread/read");
    const refuse = (): never => {
      throw new FlintError("threadNotFound", "No such thread.");
    };
    expect(check(refuse)).toThrow("every generated thread/read was rejected");
  });

  test("notice a kind of error without a code", () => {
    const { overloaded: _overloaded, ...errorCodes } = FLINT.errorCodes;
    const vocabulary = { ...small.vocabulary, errorCodes: { ...errorCodes, overloaded: Number.NaN } };
    expect(() => checkErrorCodes({ ...small, vocabulary })).toThrow("overloaded has no code");
  });

  test("notice an ask that is never resolved", () => {
    const tables = withAsks((message) => ({ ...message, key: "another" }));
    expect(() => checkResolving(tables)).toThrow("stays open when it has its answer");
  });

  test.each<[string, (answer: unknown) => boolean]>([
    ["anything but a denial", (answer) => decisionIn(answer) !== "decline"],
    ["anything truthy", (answer) => Boolean(decisionIn(answer))],
    [
      "a string that consents",
      (answer) => answer === '{"decision":"accept"}' || decisionIn(answer) === "accept",
    ],
    ["a denial", () => true],
  ])("notice one that takes %s for consent", (_, isConsent) => {
    const tables = withAsks((message) => ({
      ...message,
      answered: (answer) =>
        isConsent(answer) ? message.answered({ decision: "accept" }) : message.refused(""),
    }));
    expect(() => checkJunkAnswers(tables, CONSENTS, REFUSALS)).toThrow("becomes consent");
  });

  test("detects a front end that treats a missing answer as approval", () => {
    const tables = withAsks((message) => ({
      ...message,
      refused: () => message.answered({ decision: "accept" }),
    }));
    expect(() => checkJunkAnswers(tables, CONSENTS)).toThrow("an ask that is refused becomes consent");
  });

  test("notice one that accepts no consent, and one without a sample of it", () => {
    const deaf = withAsks((message) => ({ ...message, answered: () => message.refused("") }));
    expect(() => checkConsents(deaf, CONSENTS)).toThrow("for a denial");
    expect(() => checkConsents(small, {})).toThrow(`give a sample of a consent for ${ASK}`);
  });
});
