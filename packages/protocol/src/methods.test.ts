import { describe, expect, test } from "vitest";
import { z } from "zod/mini";
import { isMethod, METHODS, type Method, type ParamsInput } from "./methods.ts";
import { Id } from "./wire/ids.ts";

const ofThread = { threadId: "t1" };
const input = [{ type: "text" as const, text: "Fix the bug" }];

/** A real call of every method: what a client that uses all of it would send. */
const CALLS: { readonly [Name in Method]: ParamsInput<Name> } = {
  initialize: {
    clientInfo: { name: "flint-tui", title: "Flint TUI", version: "1.0.0" },
    capabilities: { experimentalApi: true },
  },
  "thread/start": {
    model: "flint/offline",
    cwd: "/repo",
    approvalPolicy: "unlessTrusted",
    sandbox: { type: "workspaceWrite", writableRoots: ["/repo"], networkAccess: false },
  },
  "thread/resume": { ...ofThread, model: "flint/offline", cwd: "/repo", afterSeq: 0, epoch: "e1" },
  "thread/attach": { ...ofThread, afterSeq: 12, epoch: "e1", turns: 3 },
  "thread/unsubscribe": ofThread,
  "thread/list": { cursor: "c1", limit: 20, archived: true, searchTerm: "bug", sortKey: "createdAt" },
  "thread/read": { ...ofThread, includeTurns: true, limit: 1 },
  "thread/events/list": { ...ofThread, afterSeq: 3, limit: 1000 },
  "thread/fork": { ...ofThread, lastTurnId: "u1", ephemeral: true, sandbox: "read-only" },
  "thread/archive": ofThread,
  "thread/unarchive": ofThread,
  "thread/delete": ofThread,
  "thread/name/set": { ...ofThread, name: "The bug" },
  "thread/rollback": { ...ofThread, numTurns: 2 },
  "thread/revert": { ...ofThread, beforeTurnId: "u1", files: "restore", preview: true },
  "thread/revert/undo": { ...ofThread, revertId: "r1" },
  "thread/compact/start": ofThread,
  "thread/queue/list": ofThread,
  "thread/queue/update": { ...ofThread, queuedInputId: "q1", input },
  "thread/queue/reorder": { ...ofThread, queuedInputIds: ["q2", "q1"] },
  "thread/queue/delete": { ...ofThread, queuedInputId: "q1" },
  "thread/queue/promote": { ...ofThread, queuedInputId: "q1" },
  "turn/start": {
    ...ofThread,
    input,
    model: "flint/offline",
    cwd: "/repo",
    approvalPolicy: "never",
    sandboxPolicy: { type: "externalSandbox", networkAccess: "restricted" },
    config: { reasoning_effort: "high", personality: "pragmatic" },
    outputSchema: { type: "object" },
    delivery: "queue",
    clientId: "c1",
  },
  "thread/loaded/list": {},
  "thread/settings/update": { ...ofThread, cwd: "/repo", sandbox: "read-only", config: { effort: "high" } },
  "thread/shellCommand": { ...ofThread, command: "git status", timeoutMs: 1000 },
  "thread/inject": { ...ofThread, messages: [{ role: "user", text: "The lamp is green." }] },
  "thread/backgroundCommands/list": ofThread,
  "thread/backgroundCommands/stop": { ...ofThread, processId: "1" },
  "thread/goal/get": ofThread,
  "thread/goal/set": { ...ofThread, objective: "Ship it", status: "paused", tokenBudget: null },
  "thread/goal/clear": ofThread,
  "turn/steer": { ...ofThread, expectedTurnId: "u1", input, clientId: "c1" },
  "turn/interrupt": { ...ofThread, turnId: "u1" },
  "review/start": { ...ofThread, target: { type: "baseBranch", branch: "main" }, delivery: "detached" },
  "approval/respond": { ...ofThread, approvalId: "a1", decision: { outcome: "allow", scope: "session" } },
  "question/respond": { ...ofThread, questionId: "q1", answers: { where: { answers: ["staging"] } } },
  "tool/respond": {
    ...ofThread,
    callId: "c1",
    result: { success: true, content: [{ type: "text", text: "sunny" }] },
  },
  "command/exec": { command: ["ls", "-l"], cwd: "/repo", sandboxPolicy: "workspaceWrite", timeoutMs: 1000 },
  "model/list": { limit: 5 },
  "config/list": ofThread,
  "config/set": { ...ofThread, id: "reasoning_effort", value: "high" },
  "config/read": ofThread,
  "rules/list": { cwd: "/code" },
  "rules/remove": { id: "r1" },
  "mcpServerStatus/list": ofThread,
  "workspace/read": { cwd: "/code" },
  "workspace/trust": { cwd: "/code", files: [{ path: ".mcp.json", sha256: "00" }] },
  "workspace/distrust": { cwd: "/code" },
  "account/read": ofThread,
  "agent/features/list": ofThread,
  "agent/skills/list": { ...ofThread, cwds: ["/code"] },
  "agent/hooks/list": { cwds: ["/w"] },
  "agent/plugins/list": { cwds: ["/w"], installedOnly: true },
  "account/login/start": { agent: "codex", type: "chatgpt" },
  "account/login/cancel": { loginId: "l" },
  "account/logout": { agent: "codex" },
  "account/limits/read": { agent: "codex" },
  "task/add": { tasks: [{ prompt: "Port it", cwd: "/repo", name: "port", rounds: 2, clientId: "c1" }] },
  "task/list": { revision: 3, timeoutMs: 1000 },
  "task/read": { taskId: "k1", after: 2 },
  "task/diff": { taskId: "k1" },
  "task/answer": { taskId: "k1", askId: "a1", answer: { choice: "continue", message: "go on" } },
  "task/approve": { taskId: "k1", tree: null },
  "task/merge": { taskId: "k1", tree: null, merge: "squash" },
  "task/reject": { taskId: "k1", comments: "Use zod" },
  "task/steer": { taskId: "k1", content: "Leave the tests alone" },
  "task/suspend": { taskId: "k1" },
  "task/resume": { taskId: "k1" },
  "task/suspendAll": {},
  "task/resumeAll": {},
  "task/cancel": { taskId: "k1", reason: "not needed" },
  "task/retry": { taskId: "k1", fromAttempt: 1, fromRound: 2 },
  "worker/list": {},
  "worker/drain": { name: "w1" },
  "task/remove": { taskId: "k1" },
  "task/clean": { dryRun: true, olderThanMs: 0 },
  "task/subscribe": {},
  "task/publish": {
    event: {
      ...{ event_id: "e1", type: "session:message", id: "c1", plan_id: "c1", project: "/repo" },
      ...{ status: "context", source: "cli", v: 1, ts: "2026-01-01T00:00:00Z", extra: {} },
    },
  },
  "thread/import": { agent: "claude", sessionId: "s1" },
  "thread/import/list": { agent: "claude", cwd: "/repo", limit: 5 },
};

// Object.keys forgets the names it gives; the type of the table says that they are all there.
const methods = Object.keys(CALLS) as Method[];
const refusedFields = (method: Method, params: object): string[] => {
  const issues = METHODS[method].params.safeParse(params).error?.issues ?? [];
  return issues.map((issue) => issue.path.join("."));
};
const needed = (schema: z.ZodMiniType, value: object): string[] =>
  Object.keys(value).filter((field) => !schema.safeParse({ ...value, [field]: undefined }).success);

describe("every method", () => {
  test("accepts all of its params, and passes _meta and unknown fields through", () => {
    for (const method of methods) {
      const call = { ...CALLS[method], _meta: { trace: [1] }, newField: { deep: true } };
      expect(METHODS[method].params.parse(call), method).toEqual(call);
    }
    expect(Object.keys(METHODS).sort()).toEqual([...methods].sort());
  });

  test("is found by its exact name only", () => {
    expect(methods.filter((method) => !isMethod(method))).toEqual([]);
    expect(["toString", "__proto__", "turn/begin", ""].filter(isMethod)).toEqual([]);
  });

  test("in the queue of a thread names the thread", () => {
    const queued = methods.filter((method) => METHODS[method].scope === "thread");
    expect(queued.length).toBeGreaterThan(10);
    expect(queued.filter((method) => !refusedFields(method, {}).includes("threadId"))).toEqual([]);
  });
});

describe("the params of each method", () => {
  test.each([
    ["initialize", { clientInfo: { name: "flint-tui", version: "1.0.0" } }, ["clientInfo"]],
    ["initialize", CALLS.initialize, ["clientInfo"]],
  ] as const)(
    "%s: the client's name, version and title, and an optional capability [S0-15, S0-16]",
    (method, params, fields) => {
      expect(METHODS[method].params.parse(params)).toEqual(params);
      expect(needed(METHODS[method].params, params)).toEqual(fields);
      expect(refusedFields(method, { clientInfo: { title: "x" } })).toEqual([
        "clientInfo.name",
        "clientInfo.version",
      ]);
    },
  );

  test.each([
    ["thread/start", {}, []],
    ["thread/start", CALLS["thread/start"], []],
    ["thread/start", { sandbox: { type: "dangerFullAccess" }, approvalPolicy: "always" }, []],
    ["thread/resume", { threadId: "t1" }, ["threadId"]],
    ["thread/resume", { threadId: "t1", model: "flint/offline", cwd: "/repo" }, ["threadId"]],
    ["thread/list", {}, []],
    ["thread/list", { cursor: "c1", limit: 10, archived: false }, []],
    ["thread/archive", { threadId: "t1" }, ["threadId"]],
  ] as const)("%s accepts %j [S0-21, S0-24, S0-26, S0-27]", (method, params, fields) => {
    expect(METHODS[method].params.parse(params)).toEqual(params);
    expect(needed(METHODS[method].params, params)).toEqual(fields);
  });

  test.each([
    ["turn/start", { threadId: "t1", input }, ["threadId", "input"]],
    [
      "turn/start",
      { threadId: "t1", input: [{ type: "image", url: "https://a/b.png" }] },
      ["threadId", "input"],
    ],
    [
      "turn/start",
      { threadId: "t1", input: [{ type: "localImage", path: "/a.png" }] },
      ["threadId", "input"],
    ],
    ["turn/start", CALLS["turn/start"], ["threadId", "input"]],
    ["turn/interrupt", { threadId: "t1", turnId: "u1" }, ["threadId"]],
  ] as const)("%s accepts %j [S0-30, S0-31, S0-33, S0-37, S0-38, S2-83]", (method, params, fields) => {
    expect(METHODS[method].params.parse(params)).toEqual(params);
    expect(needed(METHODS[method].params, params)).toEqual(fields);
  });

  test("a turn overrides model, cwd and policies by field and all else by selector [S0-5]", () => {
    const overriding = Object.keys(METHODS["turn/start"].params.shape);
    expect(overriding).toEqual([
      ...[
        "threadId",
        "input",
        "model",
        "agent",
        "cwd",
        "approvalPolicy",
        "network",
        "git",
        "acceptEdits",
        "acceptCommands",
        "config",
        "summary",
        "personality",
        "budget",
        "sandboxPolicy",
      ],
      ...["outputSchema", "delivery", "clientId", "_meta"],
    ]);
  });
});

const thread = {
  ...{ id: "t1", preview: "Fix the bug", modelProvider: "flint", createdAt: 1_700_000_000 },
  ...{ model: "flint/offline", cwd: "/repo", updatedAt: 1_700_000_000, archived: false, ephemeral: false },
  status: { type: "idle" },
};
const turn = { id: "u1", status: "inProgress", items: [{ type: "agentMessage", id: "i1", text: "Hello" }] };

describe("the result of each method", () => {
  test("initialize: the agent's info and five capabilities [S0-17, S0-18]", () => {
    const agentInfo = { name: "claude-agent", version: "1.0.0", provider: "anthropic" };
    const capabilities = {
      streaming: true,
      configOptions: true,
      reasoning: true,
      plans: false,
      review: false,
    };
    const { result } = METHODS.initialize;
    expect(result.parse({ agentInfo, capabilities })).toEqual({ agentInfo, capabilities });
    expect(needed(result.shape.agentInfo, agentInfo)).toEqual(Object.keys(agentInfo));
    expect(needed(result.shape.capabilities, capabilities)).toEqual(Object.keys(capabilities));
    expect(result.safeParse({ agentInfo, capabilities: { ...capabilities, plans: "yes" } }).success).toBe(
      false,
    );
  });

  test("a thread has an id, a preview, a provider and a creation time [S0-23]", () => {
    const schema = METHODS["thread/start"].result.shape.thread;
    expect(schema.parse(thread)).toEqual(thread);
    expect(needed(schema, thread)).toEqual(
      expect.arrayContaining(["id", "preview", "modelProvider", "createdAt"]),
    );
  });

  test.each([
    ["thread/start", { thread, modelProvider: "flint" }, ["thread", "modelProvider"]],
    ["thread/resume", { thread, epoch: "e1", truncated: false }, ["thread", "epoch", "truncated"]],
    ["thread/list", { data: [thread], nextCursor: "c2" }, ["data"]],
    ["thread/archive", {}, []],
    ["turn/start", { turn }, []],
    ["turn/interrupt", {}, []],
  ] as const)(
    "%s: the documented fields [S0-22, S0-24, S0-26, S0-27, S0-34, S0-38]",
    (method, result, fields) => {
      expect(METHODS[method].result.parse(result)).toEqual(result);
      expect(needed(METHODS[method].result, result)).toEqual(fields);
    },
  );

  test("a turn has an id, one of four statuses, items, and an error if it failed [S0-35, S0-36]", () => {
    const schema = METHODS["turn/start"].result.shape.turn.def.innerType;
    const failed = { ...turn, status: "failed", error: { message: "No." } };
    expect([schema.parse(turn), schema.parse(failed)]).toEqual([turn, failed]);
    expect(needed(schema, failed)).toEqual(["id", "status", "items"]);
    expect(schema.shape.status.options).toEqual(["inProgress", "completed", "interrupted", "failed"]);
  });

  test("config/read: model, cwd, both policies and the selectors [S0-79]", () => {
    const promised = {
      ...{ model: "flint/offline", cwd: "/repo", approvalPolicy: "always" },
      ...{ sandboxPolicy: { type: "readOnly" }, options: [] },
    };
    const { result } = METHODS["config/read"];
    const full = { ...promised, sandbox: { available: true, mechanism: "bubblewrap" }, durability: "full" };
    expect(result.parse(full)).toEqual(full);
    expect(needed(result, full)).toEqual(expect.arrayContaining(Object.keys(promised)));
  });
});

describe("an invalid value", () => {
  test.each<[Method, object, string]>([
    ["initialize", { clientInfo: { name: 5, version: "1" } }, "clientInfo.name"],
    ["thread/start", { cwd: "repo" }, "cwd"],
    ["thread/start", { cwd: `/${"x".repeat(5000)}` }, "cwd"],
    ["thread/start", { approvalPolicy: "sometimes" }, "approvalPolicy"],
    ["thread/start", { sandbox: { type: "openSea" } }, "sandbox"],
    ["thread/list", { limit: 0 }, "limit"],
    ["thread/list", { limit: 10_001 }, "limit"],
    ["thread/list", { archived: "yes" }, "archived"],
    ["thread/attach", { ...ofThread, afterSeq: -1 }, "afterSeq"],
    ["thread/name/set", { ...ofThread, name: "" }, "name"],
    ["thread/rollback", { ...ofThread, numTurns: 0 }, "numTurns"],
    ["turn/start", { ...ofThread, input: [] }, "input"],
    ["turn/start", { ...ofThread, input: "Fix the bug" }, "input"],
    ["turn/start", { ...ofThread, input: [{ type: "text" }] }, "input.0.text"],
    ["turn/start", { ...ofThread, input, config: { reasoning_effort: 3 } }, "config.reasoning_effort"],
    ["turn/start", { ...ofThread, input, delivery: "later" }, "delivery"],
    ["review/start", { ...ofThread, target: { type: "commit" } }, "target.sha"],
    ["approval/respond", { ...ofThread, approvalId: "a1", decision: { outcome: "yes" } }, "decision.outcome"],
    ["command/exec", { command: [] }, "command"],
    ["command/exec", { command: "ls" }, "command"],
    ["command/exec", { command: ["ls"], timeoutMs: 3_600_001 }, "timeoutMs"],
  ])("of %s, %j, is rejected with the field %s named", (method, params, field) => {
    expect(refusedFields(method, params)).toEqual([field]);
  });
});

const NO_IDS = [
  "",
  ".",
  "..",
  "../x",
  "a/b",
  "a\\b",
  "a\0b",
  "a\n",
  "a b",
  "%2e%2e",
  "x".repeat(10_240),
  7,
  null,
  {},
];

/** A task that somebody wrote into the database of a fleet has any id, and has to be removed. */
const OF_ANY_TASK = ["task/read taskId", "task/cancel taskId", "task/remove taskId"];

describe("an id that could be a path", () => {
  const isId = (field: z.core.$ZodType): boolean =>
    field === Id || (field instanceof z.ZodMiniOptional && field.def.innerType === Id);
  const isIdList = (field: z.core.$ZodType): boolean =>
    field instanceof z.ZodMiniOptional
      ? isIdList(field.def.innerType)
      : field instanceof z.ZodMiniArray && field.def.element === Id;
  const idFields = methods.flatMap((method) =>
    Object.entries<z.ZodMiniType>(METHODS[method].params.shape)
      .filter(([, field]) => isId(field) || isIdList(field))
      .map(([name, field]) => ({ method, name, list: isIdList(field) })),
  );

  test("is tested in every field with an id", () => {
    const named = methods.flatMap((method) =>
      Object.keys(METHODS[method].params.shape)
        .filter((name) => /Ids?$/.test(name) || `${method} ${name}` === "rules/remove id")
        .filter((name) => name !== "clientId")
        .map((name) => `${method} ${name}`)
        .filter((field) => !OF_ANY_TASK.includes(field)),
    );
    expect(idFields.map(({ method, name }) => `${method} ${name}`)).toEqual(named);
    expect(named.length).toBeGreaterThan(35);
  });

  test.each(idFields)(
    "is rejected by $method in $name, with the field named [P27]",
    ({ method, name, list }) => {
      for (const bad of NO_IDS) {
        const params = { ...CALLS[method], [name]: list ? ["q1", bad] : bad };
        expect(refusedFields(method, params)).toEqual([list ? `${name}.1` : name]);
      }
    },
  );
});
