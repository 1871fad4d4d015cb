import { FlintError, HARNESS, METHODS, type RequestOf, type Thread, type Turn } from "@flint/protocol";
import { describeFrontend, describeTranslation } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { ClientConnection } from "../shared/client-connection.ts";
import type { RequestCall } from "../shared/table-frontend.ts";
import { CLIENT_SCRIPTS } from "../testing/client-scripts.ts";
import { harnessFrontend, requests } from "./frontend.ts";
import { harnessDecision } from "./items.ts";

const requestId = "0190a000-0000-7000-8000-000000000001.0190a000-0000-7000-8000-000000000002";

describeFrontend("the harness front end", {
  create: harnessFrontend,
  connect: (frontend, engine, transport) => new ClientConnection(frontend, engine, transport),
  script: CLIENT_SCRIPTS.harness,
  notShown: {
    events: [
      "thread/settings/updated",
      "thread/name/updated",
      "thread/archived",
      "thread/unarchived",
      "thread/deleted",
      "thread/closed",
      "thread/status/changed",
      "thread/commands/updated",
      "thread/goal/updated",
      "thread/goal/cleared",
      "thread/session/updated",
      "thread/reverted",
      "thread/revert/undone",
      "item/fileChange/patchUpdated",
      "thread/queue/changed",
      "thread/tokenUsage/updated",
      "turn/diff/updated",
      "error",
      "model/rerouted",
      "grant/changed",
      "config/updated",
      "account/login/completed",
      "account/updated",
      "account/limits",
      "task/event",
      "extension/notified",
      "tool/requested",
      "tool/resolved",
    ],
    items: [],
  },
});

describeTranslation("the harness front end", harnessFrontend(), {
  requests: { "approval.respond": [{ requestId, decision: "once" }] },
});

type Request = RequestOf<typeof HARNESS>;

/** The call that a request becomes; its params are parsed by the vocabulary first. */
function callOf(request: Request, params: unknown): RequestCall {
  const parsed: unknown = HARNESS.requests[request].params.parse(params);
  const map: (params: never) => RequestCall = requests[request];
  // Parsed by the row of this very request; the compiler cannot infer that from a name chosen at run time.
  return map(parsed as never);
}

const thread: Thread = {
  id: "t1",
  preview: "Run the tests",
  modelProvider: "offline",
  model: "offline/rules",
  cwd: "/repo",
  createdAt: 1_700_000_000,
  updatedAt: 1_700_000_060,
  archived: false,
  ephemeral: false,
  status: { type: "idle" },
};
const listed = {
  threadId: "t1",
  title: "Run the tests",
  directory: "/repo",
  time: { created: 1_700_000_000_000, updated: 1_700_000_060_000 },
};
const turn: Turn = { id: "u1", status: "inProgress", items: [] };
const initialized = {
  version: "1.0.0",
  capabilities: { threads: true, turns: true, approvals: true, streaming: true, persistence: true },
};
const input = [{ type: "text", text: "Run the tests" }];

type Row = readonly [
  name: string,
  request: Request,
  params: unknown,
  method: RequestCall["method"],
  coreParams: object,
  result: object,
  answer: object,
];

const ROWS: readonly Row[] = [
  [
    "initialize names the client",
    "initialize",
    { clientInfo: { name: "demo", version: "2" } },
    "initialize",
    { clientInfo: { name: "demo", version: "2" } },
    {},
    initialized,
  ],
  [
    "initialize needs no client info",
    "initialize",
    undefined,
    "initialize",
    { clientInfo: { name: "harness client", version: "unknown" } },
    {},
    initialized,
  ],
  [
    "thread.create names the thread and its folder",
    "thread.create",
    { title: "Fix it", directory: "/repo" },
    "thread/start",
    { name: "Fix it", cwd: "/repo" },
    { thread: { ...thread, name: "Fix it" }, modelProvider: "offline" },
    { thread: { ...listed, title: "Fix it" } },
  ],
  [
    "thread.create needs nothing",
    "thread.create",
    {},
    "thread/start",
    {},
    { thread, modelProvider: "offline" },
    { thread: listed },
  ],
  [
    "thread.list requests the longest page",
    "thread.list",
    {},
    "thread/list",
    { limit: 10_000 },
    { data: [thread, { ...thread, id: "t2" }] },
    { threads: [listed, { ...listed, threadId: "t2" }] },
  ],
  [
    "thread.list continues where a page ended",
    "thread.list",
    { cursor: "p2" },
    "thread/list",
    { limit: 10_000, cursor: "p2" },
    { data: [thread], nextCursor: "p3" },
    { threads: [listed], nextCursor: "p3" },
  ],
  [
    "thread.get answers the whole history",
    "thread.get",
    { threadId: "t1" },
    "thread/events/list",
    { threadId: "t1" },
    {
      thread,
      epoch: "e1",
      more: false,
      events: [{ seq: 1, at: 5, type: "turn/started", data: { threadId: "t1", turn } }],
    },
    {
      thread: listed,
      events: [
        {
          type: "turn.started",
          time: 5,
          turn: { turnId: "u1", threadId: "t1", status: "running", time: { started: 5 } },
        },
      ],
    },
  ],
  [
    "turn.start joins provider and model, and leaves a role to the agent of the thread [S1-8]",
    "turn.start",
    {
      threadId: "t1",
      input,
      model: { providerID: "openrouter", modelID: "meta/llama" },
      agent: "code",
      _meta: { trace: 7 },
    },
    "turn/start",
    {
      threadId: "t1",
      input,
      delivery: "reject",
      model: "openrouter/meta/llama",
      _meta: { trace: 7 },
    },
    { turn },
    { turnId: "u1" },
  ],
  [
    "turn.start takes the agent that is named, in a thread that is named like a session [S1-8]",
    "turn.start",
    { threadId: "ses_t1", input, agent: "claude" },
    "turn/start",
    { threadId: "t1", input, delivery: "reject", agent: "claude" },
    { turn },
    { turnId: "u1" },
  ],
  [
    "turn.start needs neither model nor agent",
    "turn.start",
    { threadId: "t1", input },
    "turn/start",
    { threadId: "t1", input, delivery: "reject" },
    { turn },
    { turnId: "u1" },
  ],
  [
    "background.list has the commands that the agent left running",
    "background.list",
    { threadId: "ses_t1" },
    "thread/backgroundCommands/list",
    { threadId: "t1" },
    { data: [{ processId: "1", command: "sleep 9", cwd: "/repo", itemId: "i1" }] },
    { commands: [{ processId: "1", command: "sleep 9", directory: "/repo", itemId: "i1" }] },
  ],
  [
    "background.stop stops one of them",
    "background.stop",
    { threadId: "t1", processId: "1" },
    "thread/backgroundCommands/stop",
    { threadId: "t1", processId: "1" },
    { stopped: ["1"] },
    { stopped: ["1"] },
  ],
  [
    "turn.cancel interrupts the running turn",
    "turn.cancel",
    { threadId: "t1" },
    "turn/interrupt",
    { threadId: "t1" },
    {},
    { ok: true },
  ],
  ...(
    [
      ["once", { outcome: "allow", scope: "once" }],
      ["always", { outcome: "allow", scope: "always" }],
      ["reject", { outcome: "deny", scope: "once" }],
    ] as const
  ).map(
    ([word, decision]): Row => [
      `approval.respond "${word}" answers the approval of its request id`,
      "approval.respond",
      { requestId: "t1.a1", decision: word },
      "approval/respond",
      { threadId: "t1", approvalId: "a1", decision },
      {},
      { ok: true },
    ],
  ),
];

describe("a request", () => {
  test.each(ROWS)("%s", (_name, request, params, method, coreParams, result, answer) => {
    const call = callOf(request, params);
    expect({ method: call.method, params: call.params }).toStrictEqual({ method, params: coreParams });
    // The row names a result of its own method.
    const answered = call.answer(result as never);
    expect(answered).toStrictEqual(answer);
    expect(METHODS[method].params.safeParse(coreParams).success).toBe(true);
    expect(HARNESS.requests[request].result.safeParse(answered)).toEqual({ success: true, data: answer });
  });

  test("initialize does not have to come first", () => {
    expect(harnessFrontend().initializeFirst).toBe(false);
  });

  test("a turn that the core did not start is an error, not an answer", () => {
    const call = callOf("turn.start", { threadId: "t1", input });
    expect(() => call.answer({} as never)).toThrow(FlintError);
  });
});

describe("a request id", () => {
  test.each([
    ["nothing", ""],
    ["no thread", ".a1"],
    ["no approval", "t1."],
    ["only one part", "t1"],
    ["three parts", "t1.a1.x"],
    ["something like a path", "../a1"],
    ["another separator", "t1:a1"],
  ])("with %s names no approval [S1-36]", (_name, requestId) => {
    const respond = () => callOf("approval.respond", { requestId, decision: "once" });
    expect(respond).toThrow(expect.objectContaining({ name: "FlintError", kind: "approvalNotFound" }));
  });
});

describe("the decision on this wire", () => {
  test.each([
    ["allow", "once", "once"],
    ["allow", "session", "always"],
    ["allow", "always", "always"],
    ["deny", "once", "reject"],
    ["deny", "always", "reject"],
    ["cancel", "once", "reject"],
  ] as const)("for %s %s is %s [S1-24]", (outcome, scope, word) => {
    expect(harnessDecision({ outcome, scope })).toBe(word);
  });
});
