import { Gate, type WireClient } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  ask,
  CodexDoorUnderTest,
  type Fields,
  fields,
  startThread,
  startTurn,
  turnEnd,
} from "./codex/codex-door.ts";

function opened(options: Parameters<typeof CodexDoorUnderTest.open>[1] = {}) {
  return CodexDoorUnderTest.open(onTestFinished, options);
}

/** The names of what a client was told, in order, without repetitions. */
function told(client: WireClient, after = 0): string[] {
  const words = client.messages.slice(after).map(({ method, params, id }) => {
    const { status, item } = fields(params);
    const details = [fields(status).type, ...listOf(fields(status).activeFlags), fields(item).type];
    return [method ?? `answer ${id}`, ...details.filter((word) => word !== undefined)].join(" ");
  });
  return words.filter((word, at) => word !== words[at - 1]);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function asked(client: WireClient, after = 0): Promise<Fields> {
  return client.waitFor(({ method, id }) => id !== undefined && method !== undefined, { after });
}

describe("a turn at the Codex door", () => {
  test("[S3-69] [S3-70] [S3-71] [S2-31] [S2-32] [S2-35] [S2-36] [S2-37] [S2-43] is told in the order of Codex", async () => {
    const usage = { usage: { inputTokens: 5, outputTokens: 2, thinkingTokens: 1 } } as const;
    const door = await opened({ scripts: [[{ text: "Hello.", pieces: 2 }, usage]] });
    const client = await door.client();
    const threadId = await startThread(client);
    const after = client.mark;
    const end = await turnEnd(client, await startTurn(client, threadId, "hi", { approvalPolicy: "never" }));
    expect(told(client, after)).toEqual([
      "thread/settings/updated",
      "answer 3",
      "thread/status/changed active",
      "turn/started",
      "item/started userMessage",
      "item/completed userMessage",
      "item/started agentMessage",
      "item/agentMessage/delta",
      "item/completed agentMessage",
      "thread/tokenUsage/updated",
      "thread/status/changed idle",
      "turn/completed",
    ]);
    const turn = fields(fields(end.params).turn);
    expect(turn).toMatchObject({ status: "completed", itemsView: "summary", items: [{ text: "Hello." }] });
    const { params } = await client.waitForMethod("thread/tokenUsage/updated");
    expect(fields(fields(params).tokenUsage).last).toEqual({
      totalTokens: 8,
      inputTokens: 5,
      cachedInputTokens: 0,
      cacheWriteInputTokens: 0,
      outputTokens: 3,
      reasoningOutputTokens: 1,
    });
  });

  test("[S2-44] [S2-87] [S2-88] that fails leaves its thread in error and says why", async () => {
    const fail = { fail: { message: "No more lamps.", errorInfo: "UsageLimitExceeded" } };
    const retry = { emit: { type: "error", error: { message: "again" }, willRetry: true } } as const;
    const door = await opened({ scripts: [[retry, fail], [{ text: "Better." }]] });
    const client = await door.client();
    const threadId = await startThread(client);
    await turnEnd(client, await startTurn(client, threadId, "one"));
    const errors = client.messages
      .filter(({ method }) => method === "error")
      .map(({ params }) => fields(params));
    expect(errors.map(({ willRetry }) => willRetry)).toEqual([true, false]);
    expect(errors[1]?.error).toMatchObject({
      message: "No more lamps.",
      codexErrorInfo: "usageLimitExceeded",
    });
    expect(told(client).slice(-3)).toEqual(["thread/status/changed systemError", "error", "turn/completed"]);
    const after = client.mark;
    await turnEnd(client, await startTurn(client, threadId, "two"));
    expect(told(client, after)).toContain("thread/status/changed active");
  });

  test("takes further input into the turn that runs, under the same id", async () => {
    const gate = new Gate();
    const door = await opened({ scripts: [[{ wait: gate }, { text: "Both." }]] });
    const client = await door.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "one");
    await gate.reached;
    expect(await startTurn(client, threadId, "two", { clientUserMessageId: "mine" })).toBe(turnId);
    const steered = await client.waitFor(({ params }) => fields(fields(params).item).clientId === "mine");
    expect(fields(steered.params).turnId).toBe(turnId);
    gate.open();
    await turnEnd(client, turnId);
  });

  test("keeps input for later where its agent takes none now", async () => {
    const gate = new Gate();
    const door = await opened({ scripts: [[{ wait: gate }], [{ text: "Later." }]], steering: "refuses" });
    const client = await door.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "one");
    await gate.reached;
    expect(await startTurn(client, threadId, "two")).toBe(turnId);
    const after = client.mark;
    gate.open();
    const next = await client.waitForMethod("turn/started", { after });
    expect(fields(fields(next.params).turn).id).not.toBe(turnId);
    await turnEnd(client, String(fields(fields(next.params).turn).id));
  });

  test("[S2-38] [S3-67] [S3-68] [S3-76] tells of a command that nobody is asked about while it runs", async () => {
    const gate = new Gate();
    const door = await opened({ scripts: [[{ command: "make", asks: false, until: gate, output: [] }]] });
    const client = await door.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "go");
    const started = await client.waitFor(
      ({ params }) => fields(fields(params).item).type === "commandExecution",
    );
    expect(fields(started.params).item).toMatchObject({
      status: "inProgress",
      exitCode: null,
      aggregatedOutput: null,
    });
    gate.open();
    await turnEnd(client, turnId);
    const completed = client.messages.filter(({ method }) => method === "item/completed").at(-1);
    expect(fields(fields(completed).params).item).toMatchObject({ status: "completed", exitCode: 0 });
  });

  test("[S2-17] [S2-15] is steered by its name only, and the context is compacted in one of its own", async () => {
    const gate = new Gate();
    const door = await opened({ scripts: [[{ wait: gate }], [{ text: "Short." }]] });
    const client = await door.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "one");
    await gate.reached;
    const input = [{ type: "text", text: "left" }];
    const wrong = client.request("turn/steer", { threadId, expectedTurnId: "wrong", input });
    await expect(wrong).rejects.toThrow(`expected active turn id \`wrong\` but found \`${turnId}\``);
    expect(await ask(client, "turn/steer", { threadId, expectedTurnId: turnId, input })).toEqual({ turnId });
    gate.open();
    await turnEnd(client, turnId);
    const after = client.mark;
    expect(await ask(client, "thread/compact/start", { threadId })).toEqual({});
    const end = await client.waitForMethod("turn/completed", { after });
    expect(fields(end.params).turn).toMatchObject({ status: "completed" });
    expect(door.driver.turns.map(({ kind }) => kind)).toEqual(["prompt", "compact"]);
  });

  test("[S2-18] is stopped, and once it has ended that is said instead of nothing", async () => {
    const gate = new Gate();
    const door = await opened({ scripts: [[{ wait: gate }]] });
    const client = await door.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "one");
    await gate.reached;
    expect(await ask(client, "turn/interrupt", { threadId, turnId })).toEqual({});
    const end = await turnEnd(client, turnId);
    expect(fields(end.params).turn).toMatchObject({
      status: "interrupted",
      items: [],
      itemsView: "notLoaded",
    });
    await expect(client.request("turn/interrupt", { threadId, turnId })).rejects.toThrow(
      "no active turn to interrupt",
    );
  });
});

describe("what is asked at the Codex door", () => {
  const command = { command: "make install", startsFirst: true } as const;

  test("[S2-73] goes to all who follow under one number, and the first answer ends it for all", async () => {
    const door = await opened({ scripts: [[command, { text: "Done." }]] });
    const [first, second, stranger] = [await door.client(), await door.client(), await door.client()];
    const threadId = await startThread(first);
    await ask(second, "thread/resume", { threadId });
    const turnId = await startTurn(first, threadId, "go");
    const [one, two] = await Promise.all([asked(first), asked(second)]);
    expect([one.id, two.id]).toEqual([0, 0]);
    expect(one.params).toEqual(two.params);
    expect(one.params).toMatchObject({
      command: "/bin/bash -lc 'make install'",
      commandActions: [{ type: "unknown", command: "make install" }],
    });
    second.answer(0, { decision: "accept" });
    for (const client of [first, second]) {
      await client.waitFor(({ params }) => fields(params).requestId === 0);
      await turnEnd(client, turnId);
    }
    expect(told(first).filter((word) => /status|request|resolved|command/i.test(word))).toEqual([
      "thread/status/changed active",
      "thread/status/changed active waitingOnApproval",
      "item/started commandExecution",
      "item/commandExecution/requestApproval",
      "serverRequest/resolved",
      "thread/status/changed active",
      "item/completed commandExecution",
      "thread/status/changed idle",
    ]);
    expect(new Set(told(stranger).map((word) => word.split(" ")[0]))).toEqual(
      new Set(["answer", "thread/started", "thread/status/changed"]),
    );
  });

  test("is asked again of a client that comes late, under the same number", async () => {
    const door = await opened({ scripts: [[command]] });
    const client = await door.client();
    const threadId = await startThread(client);
    await startTurn(client, threadId, "go");
    await asked(client);
    const late = await door.client();
    const { thread } = await ask(late, "thread/resume", { threadId });
    expect(fields(thread).status).toEqual({ type: "active", activeFlags: ["waitingOnApproval"] });
    const items = listOf(fields(listOf(fields(thread).turns)[0]).items).map((item) => fields(item).type);
    expect(items).toEqual(["userMessage", "commandExecution"]);
    const again = await asked(late);
    expect(again.id).toBe(0);
    late.answer(again.id, { decision: "decline" });
    const { params } = await client.waitForMethod("turn/completed");
    expect(fields(params).turn).toMatchObject({ status: "completed" });
  });

  test.each([
    ["accept", { outcome: "allow", scope: "once" }],
    ["acceptForSession", { outcome: "allow", scope: "session" }],
    ["decline", { outcome: "deny", scope: "once" }],
    [
      { acceptWithExecpolicyAmendment: { execpolicy_amendment: ["rm"] } },
      { outcome: "allow", scope: "once" },
    ],
    ["maybe", { outcome: "deny", scope: "once" }],
  ])("[S3-72] [S2-73] takes %j for what it means", async (decision, meaning) => {
    const door = await opened({ scripts: [[command]] });
    const client = await door.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "go");
    client.answer((await asked(client)).id, { decision });
    await turnEnd(client, turnId);
    expect(door.driver.turns[0]?.decisions).toEqual([expect.objectContaining(meaning)]);
    const declined = client.messages.find(
      ({ method, params }) =>
        method === "item/completed" && fields(fields(params).item).type === "commandExecution",
    );
    const status = meaning.outcome === "allow" ? "completed" : "declined";
    expect(fields(fields(declined).params).item).toMatchObject({ status });
  });

  test("[S3-72] [S2-73] takes a cancel for the end of the turn, and the command for declined", async () => {
    const door = await opened({ scripts: [[command]] });
    const client = await door.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "go");
    client.answer((await asked(client)).id, { decision: "cancel" });
    const end = await turnEnd(client, turnId);
    expect(fields(end.params).turn).toMatchObject({ status: "interrupted" });
    const completed = client.messages.filter(({ method }) => method === "item/completed").at(-1);
    expect(fields(fields(completed).params).item).toMatchObject({
      type: "commandExecution",
      status: "declined",
    });
  });

  test("[S3-72] takes an offered rule for always", async () => {
    const door = await opened({ scripts: [[{ command: "npm test", startsFirst: true }]] });
    const client = await door.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "go");
    const request = await asked(client);
    const words = fields(request.params).proposedExecpolicyAmendment;
    expect(words).toEqual(["npm", "test"]);
    const amendment = { acceptWithExecpolicyAmendment: { execpolicy_amendment: words } };
    expect(fields(request.params).availableDecisions).toContainEqual(amendment);
    client.answer(request.id, { decision: amendment });
    await turnEnd(client, turnId);
    expect(door.driver.turns[0]?.decisions).toMatchObject([{ outcome: "allow", scope: "always" }]);
  });

  test("[S2-74] [S2-77] is also a change of files, a tool, and a question", async () => {
    const changes = [
      { path: "a.txt", kind: "add", diff: "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+one\n" },
    ] as const;
    const question = { id: "q", question: "Which?", options: [{ label: "red" }] };
    const tool = { tool: "lookup", arguments: { name: "x" }, startsFirst: true };
    const door = await opened({
      scripts: [[{ fileChange: changes, startsFirst: true }, tool, { ask: [question] }]],
    });
    const client = await door.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "go");
    const file = await client.waitForMethod("item/fileChange/requestApproval");
    const item = client.messages.find(({ params }) => fields(fields(params).item).type === "fileChange");
    expect(fields(fields(item).params).item).toMatchObject({
      changes: [{ path: "a.txt", kind: { type: "add" }, diff: "one\n" }],
    });
    client.answer(file.id, { decision: "accept" });
    const call = await client.waitForMethod("mcpServer/elicitation/request");
    client.answer(call.id, { action: "accept", content: {}, _meta: { persist: "session" } });
    const input = await client.waitForMethod("item/tool/requestUserInput");
    expect(fields(input.params).questions).toMatchObject([
      { id: "q", isOther: true, options: [{ label: "red" }] },
    ]);
    client.answer(input.id, { answers: { q: { answers: ["red"] } } });
    await turnEnd(client, turnId);
    const [turn] = door.driver.turns;
    expect(turn?.decisions.map(({ outcome, scope }) => `${outcome} ${scope}`)).toEqual([
      "allow once",
      "allow session",
    ]);
    expect(turn?.answers).toEqual([{ q: { answers: ["red"] } }]);
  });

  test("[S2-79] is declined when the only client cannot answer", async () => {
    const door = await opened({ scripts: [[command]] });
    const client = await door.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "go");
    client.answerError((await asked(client)).id, { code: -32601, message: "no" });
    await turnEnd(client, turnId);
    expect(door.driver.turns[0]?.decisions).toMatchObject([{ outcome: "deny" }]);
  });
});

describe("many clients of the Codex door", () => {
  test("a turn goes on without the client that began it", async () => {
    const gate = new Gate();
    const door = await opened({ scripts: [[{ wait: gate }, { text: "Still here." }]] });
    const [first, second] = [await door.client(), await door.client()];
    const threadId = await startThread(first);
    const turnId = await startTurn(first, threadId, "go");
    await gate.reached;
    first.end();
    await ask(second, "thread/resume", { threadId, excludeTurns: true });
    gate.open();
    const end = await turnEnd(second, turnId);
    expect(fields(end.params).turn).toMatchObject({ status: "completed" });
  });

  test("one that lets go hears no more of the turns, and one that opts out not of what it named", async () => {
    const door = await opened();
    const client = await door.client();
    const quiet = await door.client({ optOutNotificationMethods: ["item/agentMessage/delta"] });
    const threadId = await startThread(client);
    await ask(quiet, "thread/resume", { threadId });
    await turnEnd(quiet, await startTurn(client, threadId, "one"));
    expect(told(quiet)).not.toContain("item/agentMessage/delta");
    expect(told(quiet)).toContain("item/completed agentMessage");
    expect(await ask(quiet, "thread/unsubscribe", { threadId })).toEqual({ status: "unsubscribed" });
    expect(await ask(quiet, "thread/unsubscribe", { threadId })).toEqual({ status: "notSubscribed" });
    const after = quiet.mark;
    await turnEnd(client, await startTurn(client, threadId, "two"));
    await ask(quiet, "thread/loaded/list");
    expect(told(quiet, after).filter((word) => /^(?:turn|item)/.test(word))).toEqual([]);
  });

  test("[S3-74] ids of any kind come back as they were, and `initialized` is not waited for", async () => {
    const door = await opened();
    const client = await door.client();
    for (const id of ["initialize", 7, "0190a000-0000-7000-8000-000000000001"]) {
      client.send({ id, method: "configRequirements/read" });
      expect(await client.waitFor((message) => message.id === id)).toHaveProperty("result");
    }
  });
});

describe("titles", () => {
  const outputSchema = {
    type: "object",
    properties: { title: { type: "string", minLength: 1, maxLength: 36 } },
    required: ["title"],
    additionalProperties: false,
  };
  const prompt =
    "Generate a concise title. Do not answer.\n\nUser prompt:\nfix the `lamp` in the hall, please, before it falls";

  test.each([{ ephemeral: true, threadSource: "thread_title", model: "unknown" }, { ephemeral: true }])(
    "cost no agent in a thread of %j",
    async (opening) => {
      const door = await opened();
      const client = await door.client();
      const threadId = await startThread(client, opening);
      const after = client.mark;
      const turnId = await startTurn(client, threadId, prompt, { outputSchema, model: "unknown" });
      const { params } = await turnEnd(client, turnId);
      const [said] = listOf(fields(fields(params).turn).items);
      expect(JSON.parse(String(fields(said).text))).toEqual({ title: "Fix the lamp in the hall, please" });
      expect(told(client, after).slice(1)).toEqual([
        "thread/status/changed active",
        "turn/started",
        "item/started userMessage",
        "item/completed userMessage",
        "item/started agentMessage",
        "item/agentMessage/delta",
        "item/completed agentMessage",
        "thread/status/changed idle",
        "turn/completed",
      ]);
      expect(door.driver.sessions).toEqual([]);
      expect(await ask(client, "thread/unsubscribe", { threadId })).toEqual({ status: "unsubscribed" });
    },
  );

  test("are left to the agent where more than a title is wanted", async () => {
    const door = await opened();
    const client = await door.client();
    const threadId = await startThread(client, { ephemeral: true });
    const wider = { ...outputSchema, properties: { ...outputSchema.properties, body: { type: "string" } } };
    await turnEnd(client, await startTurn(client, threadId, prompt, { outputSchema: wider }));
    expect(door.driver.turns).toHaveLength(1);
  });
});
