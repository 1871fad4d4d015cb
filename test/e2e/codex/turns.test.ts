import { Gate } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import {
  ask,
  fields,
  listOf,
  openServer,
  received,
  startThread,
  startTurn,
  turnEnd,
} from "./server-under-test.ts";

describe("a turn of a Codex client", () => {
  test("[S3-69] [S3-70] [S3-71] [S2-31] [S2-32] [S2-35] [S2-36] [S2-37] [S2-43] is sent in the order of Codex", async () => {
    const usage = { usage: { inputTokens: 5, outputTokens: 2, thinkingTokens: 1 } } as const;
    const server = await openServer({ scripts: [[{ text: "Hello.", pieces: 2 }, usage]] });
    const client = await server.client();
    const threadId = await startThread(client);
    const after = client.mark;
    const end = await turnEnd(client, await startTurn(client, threadId, "hi", { approvalPolicy: "never" }));
    expect(received(client, after)).toEqual([
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

  test("[S2-44] [S2-87] [S2-88] that fails leaves its thread in error, with the reason", async () => {
    const fail = { fail: { message: "No more lamps.", errorInfo: "UsageLimitExceeded" } };
    const retry = { emit: { type: "error", error: { message: "again" }, willRetry: true } } as const;
    const server = await openServer({ scripts: [[retry, fail], [{ text: "Better." }]] });
    const client = await server.client();
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
    expect(received(client).slice(-3)).toEqual([
      "thread/status/changed systemError",
      "error",
      "turn/completed",
    ]);
    const after = client.mark;
    await turnEnd(client, await startTurn(client, threadId, "two"));
    expect(received(client, after)).toContain("thread/status/changed active");
  });

  test("is steered by further input, under the same id", async () => {
    const gate = new Gate();
    const server = await openServer({ scripts: [[{ wait: gate }, { text: "Both." }]] });
    const client = await server.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "one");
    await gate.reached;
    expect(await startTurn(client, threadId, "two", { clientUserMessageId: "mine" })).toBe(turnId);
    const steered = await client.waitFor(({ params }) => fields(fields(params).item).clientId === "mine");
    expect(fields(steered.params).turnId).toBe(turnId);
    gate.open();
    await turnEnd(client, turnId);
  });

  test("queues input where its agent cannot be steered", async () => {
    const gate = new Gate();
    const server = await openServer({
      scripts: [[{ wait: gate }], [{ text: "Later." }]],
      steering: "refuses",
    });
    const client = await server.client();
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

  test("[S2-38] [S3-67] [S3-68] [S3-76] shows a command that needs no approval while it runs", async () => {
    const gate = new Gate();
    const server = await openServer({
      scripts: [[{ command: "make", asks: false, until: gate, output: [] }]],
    });
    const client = await server.client();
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

  test("[S2-17] [S2-15] is steered by its id only, and compaction is a turn of its own", async () => {
    const gate = new Gate();
    const server = await openServer({ scripts: [[{ wait: gate }], [{ text: "Short." }]] });
    const client = await server.client();
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
    expect(server.driver.turns.map(({ kind }) => kind)).toEqual(["prompt", "compact"]);
  });

  test("[S2-18] is interrupted, and is an error to interrupt once it has ended", async () => {
    const gate = new Gate();
    const server = await openServer({ scripts: [[{ wait: gate }]] });
    const client = await server.client();
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

  test("[S2-16] gives the agent the output schema of the request", async () => {
    const server = await openServer();
    const client = await server.client();
    const threadId = await startThread(client);
    const outputSchema = { type: "object", properties: { answer: { type: "number" } } };
    await turnEnd(client, await startTurn(client, threadId, "go", { outputSchema }));
    await turnEnd(client, await startTurn(client, threadId, "go"));
    expect(server.driver.turns.map((turn) => turn.outputSchema)).toEqual([outputSchema, undefined]);
  });

  test.each([
    ["collaboration_mode", "default"],
    ["mode", "default"],
    ["collaboration_mode", "review"],
  ])("switches the selector %s of its agent from %s to plan and back to default", async (id, initial) => {
    const values = ["default", "review", "plan"].map((value) => ({ id: value, name: value }));
    const selectors = (_model: string, config: Readonly<Record<string, string>>) => [
      { id, name: id, type: "select" as const, value: config[id] ?? "default", options: values },
    ];
    const server = await openServer({ selectors });
    const client = await server.client();
    const threadId = await startThread(client);
    const modes = async (mode: string) => {
      const collaborationMode = { mode, settings: { model: null } };
      await turnEnd(client, await startTurn(client, threadId, "go", { collaborationMode }));
      return server.driver.turns.at(-1)?.settings.config[id];
    };
    if (initial !== "default") {
      await ask(client, "thread/settings/update", { threadId, collaborationMode: null });
      const plain = server.engine.connect({ send: () => undefined, isFull: () => false });
      await plain.call("thread/settings/update", { threadId, config: { [id]: initial } }, () => undefined);
      // Neither default nor plan is in force, and the client does not ask for plan.
      expect(await modes("default")).toBe(initial);
    }
    expect(await modes("plan")).toBe("plan");
    expect(await modes("default")).toBe("default");
  });
});

describe("a client of several", () => {
  test("that leaves does not stop its turn", async () => {
    const gate = new Gate();
    const server = await openServer({ scripts: [[{ wait: gate }, { text: "Still here." }]] });
    const [first, second] = [await server.client(), await server.client()];
    const threadId = await startThread(first);
    const turnId = await startTurn(first, threadId, "go");
    await gate.reached;
    first.end();
    await ask(second, "thread/resume", { threadId, excludeTurns: true });
    gate.open();
    const end = await turnEnd(second, turnId);
    expect(fields(end.params).turn).toMatchObject({ status: "completed" });
  });

  test("that unsubscribes or opts out is not sent that any more", async () => {
    const server = await openServer();
    const client = await server.client();
    const quiet = await server.client({ optOutNotificationMethods: ["item/agentMessage/delta"] });
    const threadId = await startThread(client);
    await ask(quiet, "thread/resume", { threadId });
    await turnEnd(quiet, await startTurn(client, threadId, "one"));
    expect(received(quiet)).not.toContain("item/agentMessage/delta");
    expect(received(quiet)).toContain("item/completed agentMessage");
    expect(await ask(quiet, "thread/unsubscribe", { threadId })).toEqual({ status: "unsubscribed" });
    expect(await ask(quiet, "thread/unsubscribe", { threadId })).toEqual({ status: "notSubscribed" });
    const after = quiet.mark;
    await turnEnd(client, await startTurn(client, threadId, "two"));
    await ask(quiet, "thread/loaded/list");
    expect(received(quiet, after).filter((entry) => /^(?:turn|item)/.test(entry))).toEqual([]);
  });

  test("[S3-74] gets its ids back as they were, and need not send `initialized`", async () => {
    const server = await openServer();
    const client = await server.client();
    for (const id of ["initialize", 7, "0190a000-0000-7000-8000-000000000001"]) {
      client.send({ id, method: "configRequirements/read" });
      expect(await client.waitFor((message) => message.id === id)).toHaveProperty("result");
    }
  });
});

describe("a title", () => {
  const outputSchema = {
    type: "object",
    properties: { title: { type: "string", minLength: 1, maxLength: 36 } },
    required: ["title"],
    additionalProperties: false,
  };
  const prompt =
    "Generate a concise title. Do not answer.\n\nUser prompt:\nfix the `lamp` in the hall, please, before it falls";

  test.each([{ ephemeral: true, threadSource: "thread_title", model: "unknown" }, { ephemeral: true }])(
    "needs no agent in a thread of %j",
    async (opening) => {
      const server = await openServer();
      const client = await server.client();
      const threadId = await startThread(client, opening);
      const after = client.mark;
      const turnId = await startTurn(client, threadId, prompt, { outputSchema, model: "unknown" });
      const { params } = await turnEnd(client, turnId);
      const [message] = listOf(fields(fields(params).turn).items);
      expect(JSON.parse(String(fields(message).text))).toEqual({ title: "Fix the lamp in the hall, please" });
      expect(received(client, after).slice(1)).toEqual([
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
      expect(server.driver.sessions).toEqual([]);
      expect(await ask(client, "thread/unsubscribe", { threadId })).toEqual({ status: "unsubscribed" });
    },
  );

  test("is left to the agent where the schema has more than a title", async () => {
    const server = await openServer();
    const client = await server.client();
    const threadId = await startThread(client, { ephemeral: true });
    const wider = { ...outputSchema, properties: { ...outputSchema.properties, body: { type: "string" } } };
    await turnEnd(client, await startTurn(client, threadId, prompt, { outputSchema: wider }));
    expect(server.driver.turns).toHaveLength(1);
  });
});
