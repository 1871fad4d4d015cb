import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TurnContext } from "@flint/core/ports";
import type { Turn } from "@flint/protocol";
import { RecordingTurn, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { sessionSpec } from "../testing/session-spec.ts";
import { CodexDriver } from "./driver.ts";
import { UNSANDBOXED } from "./process/launch.ts";
import { CODEX_TIMING, CodexServer } from "./process/server.ts";
import { contextOf } from "./testing/codex-fixture.ts";
import { FakeCodex, fakeSession, SETTINGS, TURN_IDS } from "./testing/fake-codex.ts";

/** A turn that has begun. */
async function running(fake: FakeCodex) {
  const { opened, driver } = await fakeSession(fake, onTestFinished);
  const turn = new RecordingTurn({ text: "go", settings: SETTINGS });
  const outcome = opened.run(turn);
  outcome.catch(() => undefined);
  await fake.received(({ method }) => method === "turn/start");
  return { opened, driver, turn, outcome };
}

describe("messages to Codex", () => {
  test("[S3-60] [S3-61] [S4-9] sends lines without a JSON-RPC header, and `initialized` after `initialize`", async () => {
    const fake = new FakeCodex();
    const { outcome } = await running(fake);
    fake.endTurn();
    expect(await outcome).toEqual({ status: "completed" });
    expect(fake.messages.slice(0, 2)).toEqual([
      {
        id: 0,
        method: "initialize",
        params: {
          clientInfo: { name: "flint", title: "Flint", version: "1.2.3" },
          capabilities: { experimentalApi: true, requestAttestation: false },
        },
      },
      { method: "initialized" },
    ]);
    expect(fake.lines.join("")).not.toContain("jsonrpc");
  });

  test("[S3-62] [S3-63] starts a thread without a model, and a turn with its input and policies", async () => {
    const fake = new FakeCodex();
    const { outcome } = await running(fake);
    fake.endTurn();
    await outcome;
    const start = await fake.received(({ method }) => method === "thread/start");
    expect(start.params).toMatchObject({ model: null, cwd: "/workspace", approvalPolicy: "untrusted" });
    const turn = await fake.received(({ method }) => method === "turn/start");
    expect(turn.params).toMatchObject({
      threadId: "thread-1",
      input: [{ type: "text", text: "go", text_elements: [] }],
      approvalPolicy: "untrusted",
      sandboxPolicy: { type: "dangerFullAccess" },
      model: "model-1",
    });
  });

  test.each([
    [{}, "auto", undefined],
    [{ summary: "concise", personality: "pragmatic" }, "concise", "pragmatic"],
    [{ config: { personality: "default" } }, "auto", "none"],
  ] as const)("[S2-6] [S2-16] sends summary and personality: %j", async (chosen, summary, personality) => {
    const fake = new FakeCodex();
    const { opened } = await fakeSession(fake, onTestFinished);
    const outcome = opened.run(new RecordingTurn({ text: "go", settings: { ...SETTINGS, ...chosen } }));
    const { params } = await fake.received(({ method }) => method === "turn/start");
    fake.endTurn();
    await outcome;
    expect([Object(params).summary, Object(params).personality]).toEqual([summary, personality]);
  });

  test("sends the handoff summary once, before the first prompt", async () => {
    const fake = new FakeCodex();
    const { opened } = await fakeSession(fake, onTestFinished, {
      spec: { handoffSummary: async () => "User: paint it red" },
    });
    for (const text of ["go", "on"]) {
      const outcome = opened.run(new RecordingTurn({ text, settings: SETTINGS }));
      await fake.received(
        ({ method, params }) => method === "turn/start" && JSON.stringify(params).includes(`"${text}"`),
      );
      fake.endTurn();
      await outcome;
    }
    const prompts = fake.messages
      .filter(({ method }) => method === "turn/start")
      .map(({ params }) => JSON.stringify(params));
    expect(prompts.map((prompt) => prompt.includes("paint it red"))).toEqual([true, false]);
  });
});

test("[S4-4] [S4-7] [S4-48] [S0-103] serves all threads with one process, each by the id from Codex", async () => {
  const fake = new FakeCodex();
  const { driver, opened } = await fakeSession(fake, onTestFinished);
  const other = await driver.open(sessionSpec(SETTINGS, fake, { nativeId: "thread-1" }));
  for (const [each, text] of [
    [opened, "first"],
    [other, "second"],
  ] as const) {
    const turn = new RecordingTurn({ text, settings: SETTINGS });
    const outcome = each.run(turn);
    await fake.received(
      ({ method, params }) => method === "turn/start" && JSON.stringify(params).includes(text),
    );
    fake.endTurn();
    expect(await outcome).toEqual({ status: "completed" });
    expect(turn.events).toContainEqual({ type: "session", nativeId: "thread-1" });
  }
  const afterTurn = "thread/backgroundTerminals/list";
  const asked = fake.messages
    .map(({ method }) => method)
    .filter((method) => method !== undefined && method !== afterTurn);
  const expected = ["initialize", "initialized", "thread/start", "turn/start", "thread/resume", "turn/start"];
  expect(asked).toEqual(expected);
  expect(fake.starts).toHaveLength(1);
  await other.close();
});

describe("the order of messages", () => {
  test("[S3-70] handles notifications that come together with the response to the start", async () => {
    const fake = new FakeCodex();
    fake.answers.delete("turn/start");
    const { outcome, turn } = await running(fake);
    const { id } = await fake.received(({ method }) => method === "turn/start");
    const item = { type: "agentMessage", id: "m", text: "At once." };
    fake.send(
      { id: id ?? null, result: { turn: { id: "turn-1", status: "inProgress", items: [] } } },
      {
        method: "turn/started",
        params: { threadId: "thread-1", turn: { id: "turn-1", status: "inProgress", items: [] } },
      },
      { method: "item/completed", params: { ...TURN_IDS, item } },
    );
    fake.endTurn();
    expect(await outcome).toEqual({ status: "completed" });
    expect(turn.completedItems).toEqual([item]);
  });
});

describe("a misbehaving Codex", () => {
  test("[S4-26] fails the turn once with the last output of the process, and resumes the thread in the next", async () => {
    const fake = new FakeCodex();
    const { opened, outcome } = await running(fake);
    fake.exit(9, "thread 'main' panicked\n");
    expect(await outcome).toEqual({
      status: "failed",
      error: {
        message: "Codex ended with exit code 9. Its last output:\nthread 'main' panicked",
        errorInfo: "AgentFailed",
      },
    });
    const next = opened.run(new RecordingTurn({ text: "again", settings: SETTINGS }));
    const resumed = await fake.received(({ method }) => method === "thread/resume");
    expect(resumed.params).toMatchObject({ threadId: "thread-1", excludeTurns: true });
    await fake.received(
      ({ method, params }) => method === "turn/start" && JSON.stringify(params).includes("again"),
    );
    fake.endTurn();
    expect(await next).toEqual({ status: "completed" });
    expect(fake.starts).toHaveLength(2);
  });

  test("fails the turn of a program that never answers in time", async () => {
    const fake = new FakeCodex();
    fake.answers.clear();
    const { opened } = await fakeSession(fake, onTestFinished, { timing: { start: 50 } });
    const failed = opened.run(new RecordingTurn({ text: "go", settings: SETTINGS }));
    await expect(failed).rejects.toThrow("Codex did not answer initialize in time.");
  });

  test("stops the process of a turn that does not stop", async () => {
    const fake = new FakeCodex();
    const { turn, outcome } = await running(fake);
    turn.stop();
    expect(await outcome).toEqual({ status: "interrupted" });
    expect(fake.messages.filter(({ method }) => method === "turn/interrupt")).toMatchObject([
      { params: { threadId: "thread-1", turnId: "turn-1" } },
    ]);
  });

  test("ignores malformed lines", async () => {
    const fake = new FakeCodex();
    const { outcome, turn } = await running(fake);
    fake.send("garbage", "[]", "{}", { method: "no/such", params: {} }, { id: 77, result: {} });
    fake.send({ method: "item/started", params: { unknown: true } });
    fake.endTurn();
    expect(await outcome).toEqual({ status: "completed" });
    expect(turn.completedItems).toEqual([]);
  });

  test("answers a request after the turn with an error", async () => {
    const fake = new FakeCodex();
    const { outcome } = await running(fake);
    fake.endTurn();
    await outcome;
    fake.send({ id: 5, method: "item/fileChange/requestApproval", params: { ...TURN_IDS, itemId: "f" } });
    expect(await fake.received(({ id, method }) => id === 5 && method === undefined)).toMatchObject({
      error: { message: "No turn is running in this thread." },
    });
  });

  test("starts a new thread with the history if Codex lost the old one", async () => {
    const fake = new FakeCodex();
    fake.answers.delete("thread/resume");
    const past: Turn = {
      ...{ id: "before", status: "completed" },
      items: [
        { type: "userMessage", id: "1", content: [{ type: "text", text: "paint it red" }] },
        { type: "agentMessage", id: "2", text: "x".repeat(5_000) },
      ],
    };
    const { opened } = await fakeSession(fake, onTestFinished, {
      spec: { nativeId: "lost", history: async () => [past] },
    });
    const turn = new RecordingTurn({ text: "go", settings: SETTINGS });
    const outcome = opened.run(turn);
    const { id } = await fake.received(({ method }) => method === "thread/resume");
    fake.send({ id: id ?? null, error: { code: -32600, message: "no rollout found for thread id lost" } });
    const start = await fake.received(({ method }) => method === "turn/start");
    fake.endTurn();
    expect(await outcome).toEqual({ status: "completed" });
    expect(turn.events).toContainEqual({ type: "session", nativeId: "thread-1" });
    const sent = JSON.stringify(start.params);
    expect(sent).toContain("User: paint it red");
    expect(sent.length).toBeLessThan(4_000);
  });

  test("[S4-26] fails the turn with the error of Codex if the thread cannot be resumed now", async () => {
    const fake = new FakeCodex();
    fake.answers.delete("thread/resume");
    const { opened } = await fakeSession(fake, onTestFinished, { spec: { nativeId: "locked" } });
    const outcome = opened.run(new RecordingTurn({ text: "go", settings: SETTINGS }));
    const { id } = await fake.received(({ method }) => method === "thread/resume");
    fake.send({ id: id ?? null, error: { code: -32600, message: "thread in use by another Codex client" } });
    await expect(outcome).rejects.toThrow("in use by another Codex client");
  });
});

test("[S4-29] passes Codex the key that its configuration names, and reports its account", async () => {
  const fake = new FakeCodex();
  const { path: home } = await temporaryFolder();
  await writeFile(join(home, "config.toml"), '[model_providers.own]\nenv_key = "OPENAI_API_KEY"\n');
  const given = { OPENAI_API_KEY: "sk-test", CODEX_HOME: home };
  const environment = { ...given, CODEX_API_KEY: "sk-unused" };
  const driver = new CodexDriver({
    ...{ program: async () => ({ command: ["codex"], environment }), version: "1", sandbox: fake },
  });
  const results = [
    { account: { type: "chatgpt", email: "a@b.c", planType: "plus" }, requiresOpenaiAuth: true },
    { account: { type: "apiKey" }, requiresOpenaiAuth: true },
    { account: null, requiresOpenaiAuth: true },
  ];
  const accounts: unknown[] = [];
  for (const account of results) {
    fake.answers.set("account/read", account);
    accounts.push(await driver.account());
  }
  expect(accounts).toEqual([
    { account: { type: "chatgpt", label: "a@b.c", plan: "plus" }, requiresLogin: false },
    { account: { type: "apiKey" }, requiresLogin: false },
    { account: null, requiresLogin: true },
  ]);
  expect(fake.starts).toMatchObject([{ environment: given, policy: { type: "dangerFullAccess" }, cwd: "/" }]);
  expect(JSON.stringify(fake.starts)).not.toContain("sk-unused");
  await driver.close();
});

test("counts unknown messages", async () => {
  const fake = new FakeCodex();
  const launch = {
    command: ["codex"],
    environment: {},
    serverSandbox: UNSANDBOXED,
    hosts: [],
    folders: [],
  };
  const server = await CodexServer.start({
    ...{ launch, sandbox: fake, version: "1", trace: undefined, timing: CODEX_TIMING },
  });
  fake.send("garbage", { method: "no/such" }, { id: 9, method: "no/such" });
  await fake.received(({ id, method }) => id === 9 && method === undefined);
  expect(server.unknownMessages).toBe(3);
  await server.close();
  expect(server.isRunning).toBe(false);
});

test("[S4-30] fails with the install command before any turn if the program is missing", async () => {
  const driver = new CodexDriver({ program: async () => undefined, version: "1" });
  expect(await driver.models()).toEqual([]);
  const fake = new FakeCodex();
  const failed = driver.open(sessionSpec(SETTINGS, fake));
  await expect(failed).rejects.toThrow(/npm install -g @openai\/codex/);
});

/** The positions that are emitted for a turn that ended with this status. */
async function positionsAfter(status: string, more: Partial<TurnContext> = {}) {
  const fake = new FakeCodex();
  const turnOfReview = { id: TURN_IDS.turnId, status: "inProgress", items: [] };
  fake.answers.set("thread/settings/update", {});
  fake.answers.set("review/start", { turn: turnOfReview, reviewThreadId: TURN_IDS.threadId });
  const { opened } = await fakeSession(fake, onTestFinished);
  const turn = new RecordingTurn({ text: "go", settings: SETTINGS });
  const ended = opened.run({ ...contextOf(turn), ...more });
  await fake.received(({ method }) => method === "turn/start" || method === "review/start");
  fake.endTurn(status);
  await ended;
  return turn.events.filter(({ type }) => type === "position");
}

test("emits the position of a completed turn in Codex's own thread", async () => {
  expect(await positionsAfter("completed")).toEqual([{ type: "position", position: TURN_IDS.turnId }]);
});

test.each(["interrupted", "failed"])("emits no position for a turn that was %s", async (status) => {
  expect(await positionsAfter(status)).toEqual([]);
});

test("emits no position for a review, which Codex stores under another id", async () => {
  const review = { type: "uncommittedChanges" } as const;
  expect(await positionsAfter("completed", { kind: "review", review })).toEqual([]);
});
