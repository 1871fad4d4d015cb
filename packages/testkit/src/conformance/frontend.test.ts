import { FLINT, FlintError, METHODS, type ThreadEvent } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { describeFrontend } from "./frontend.ts";
import {
  type CheckedCall,
  type CheckedFrontend,
  type CheckedMessage,
  type CheckedRequest,
  checkConsents,
  checkErrorCodes,
  checkEvents,
  checkExtensions,
  checkJunkAnswers,
  checkRequest,
  checkRequestNames,
  checkSettling,
} from "./frontend-checks.ts";

const ASK = "item/toolCall/requestApproval";
const CONSENTS = { [ASK]: [{ decision: "accept" }] };
const REFUSALS = { [ASK]: [{ decision: "decline" }] };

/** A small door: two requests, every approval asked in the same way, no questions and no tools, every other event as it is. */
const small: CheckedFrontend = {
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

/** The small door with its asks changed. */
function withAsks(
  change: (message: Extract<CheckedMessage, { kind: "ask" }>) => CheckedMessage,
): CheckedFrontend {
  return {
    ...small,
    events: (event) => events(event).map((message) => (message.kind === "ask" ? change(message) : message)),
  };
}

function telling(message: (event: ThreadEvent) => CheckedMessage): CheckedFrontend {
  return { ...small, events: (event) => [message(event)] };
}

describeFrontend("a small door", small, { consents: CONSENTS, refusals: REFUSALS });

describe("the checks of a frontend", () => {
  test("notice an event that is too much for it", () => {
    const fragile: CheckedFrontend = {
      ...small,
      events(event) {
        if (event.type === "item/completed" && event.data.item.type === "webSearch")
          throw new Error("cannot do items");
        return events(event);
      },
    };
    expect(() => checkEvents(fragile, "item/completed")).toThrow("cannot do items");
  });

  test("notice a word that the wire does not have", () => {
    const frontend = telling((event) => ({ kind: "notification", method: "made/up", params: event.data }));
    expect(() => checkEvents(frontend, "turn/started")).toThrow("made/up is no word of the small wire");
  });

  test("notice params that do not fit", () => {
    const frontend = telling(() => ({
      kind: "notification",
      method: "turn/started",
      params: { threadId: "a" },
    }));
    expect(() => checkEvents(frontend, "turn/started")).toThrow("invalid: the params of turn/started");
  });

  test("notice params that only JSON spoils", () => {
    const frontend = telling(({ type, data }) => ({
      kind: "notification",
      method: type,
      params: { ...data, name: () => "x" },
    }));
    expect(() => checkEvents(frontend, "thread/name/updated")).toThrow("invalid: the params");
  });

  test("notice a frontend that changes the event", () => {
    const frontend = telling((event) => ({
      kind: "notification",
      method: event.type,
      params: Object.assign(event.data, { changed: true }),
    }));
    expect(() => checkEvents(frontend, "thread/archived")).toThrow("not extensible");
  });

  test("notice a frontend that remembers", () => {
    let count = 0;
    const frontend = telling(({ type, data }) => {
      count += 1;
      return { kind: "notification", method: type, params: { ...data, count } };
    });
    expect(() => checkEvents(frontend, "thread/archived")).toThrow("something else the second time");
  });

  test("notice an agent that speaks as the server", () => {
    const frontend = telling((event) => ({
      kind: "notification",
      method: event.type === "extension/notified" ? event.data.method : event.type,
      params: {},
    }));
    expect(() => checkExtensions(frontend)).toThrow("an agent can send thread/started as if Flint did");
  });

  test("notice a request without a call, and a call without a request", () => {
    const { "thread/read": _read, ...fewer } = { ...small.requests, "thread/read": undefined };
    expect(() => checkRequestNames({ ...small, requests: fewer })).toThrow("no inbound for thread/read");
    const more = { ...small.requests, "thread/dance": () => undefined };
    expect(() => checkRequestNames({ ...small, requests: more })).toThrow("no request: thread/dance");
  });

  test("notice a call that the core would refuse, an answer that does not fit, and a request nobody understands", () => {
    const inbound = (translate: () => CheckedRequest): CheckedFrontend => ({
      ...small,
      requests: { "thread/read": translate },
    });
    const read = { threadId: "a" };
    const check = (translate: () => CheckedRequest) => () => checkRequest(inbound(translate), "thread/read");
    expect(check(() => call("thread/read", {}))).toThrow("invalid: the params of the core call thread/read");
    expect(check(() => call("thread/dance", {}))).toThrow("thread/dance is no method of the core");
    expect(check(() => call("thread/read", read, () => ({})))).toThrow("invalid: the answer to thread/read");
    const refuse = (): never => {
      throw new FlintError("threadNotFound", "No such thread.");
    };
    expect(check(refuse)).toThrow("every made up thread/read was refused");
  });

  test("notice a kind of error without a number", () => {
    const { overloaded: _overloaded, ...errorCodes } = FLINT.errorCodes;
    const vocabulary = { ...small.vocabulary, errorCodes: { ...errorCodes, overloaded: Number.NaN } };
    expect(() => checkErrorCodes({ ...small, vocabulary })).toThrow("overloaded has no number");
  });

  test("notice an ask that is never settled", () => {
    const frontend = withAsks((message) => ({ ...message, key: "another" }));
    expect(() => checkSettling(frontend)).toThrow("stays open when it has its answer");
  });

  test.each<[string, (answer: unknown) => boolean]>([
    ["whatever is not a plain no", (answer) => decisionIn(answer) !== "decline"],
    ["whatever is truthy", (answer) => Boolean(decisionIn(answer))],
    [
      "a text that says so",
      (answer) => answer === '{"decision":"accept"}' || decisionIn(answer) === "accept",
    ],
    ["a no", () => true],
  ])("notice a door that takes %s for a yes", (_, isYes) => {
    const frontend = withAsks((message) => ({
      ...message,
      answered: (answer) => (isYes(answer) ? message.answered({ decision: "accept" }) : message.refused("")),
    }));
    expect(() => checkJunkAnswers(frontend, CONSENTS, REFUSALS)).toThrow("becomes a yes");
  });

  test("notice a door that takes nobody for a yes", () => {
    const frontend = withAsks((message) => ({
      ...message,
      refused: () => message.answered({ decision: "accept" }),
    }));
    expect(() => checkJunkAnswers(frontend, CONSENTS)).toThrow("an ask that is refused becomes a yes");
  });

  test("notice a door that understands no yes, and one whose yes nobody showed", () => {
    const deaf = withAsks((message) => ({ ...message, answered: () => message.refused("") }));
    expect(() => checkConsents(deaf, CONSENTS)).toThrow("for a no");
    expect(() => checkConsents(small, {})).toThrow(`give a sample of a consent for ${ASK}`);
  });
});
