import type { TurnContext } from "@flint/core/ports";
import type { Turn } from "@flint/protocol";
import { RecordingTurn } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { CodexDriver } from "./driver.ts";
import { UNSANDBOXED } from "./process/launch.ts";
import { CODEX_TIMING, CodexServer } from "./process/server.ts";
import { contextOf } from "./testing/codex-fixture.ts";
import { FakeCodex, fakeSession, PLACE, SETTINGS } from "./testing/fake-codex.ts";

/** A turn that has begun. */
async function running(fake: FakeCodex) {
  const { opened, driver } = await fakeSession(fake, onTestFinished);
  const turn = new RecordingTurn({ text: "go", settings: SETTINGS });
  const outcome = opened.run(turn);
  outcome.catch(() => undefined);
  await fake.told(({ method }) => method === "turn/start");
  return { opened, driver, turn, outcome };
}

describe("what Codex is told", () => {
  test("[S3-60] [S3-61] [S4-9] lines have no header, and hello is followed by `initialized`", async () => {
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

  test("[S3-62] [S3-63] a thread begins without a model, and a turn has its input and policies", async () => {
    const fake = new FakeCodex();
    const { outcome } = await running(fake);
    fake.endTurn();
    await outcome;
    const start = await fake.told(({ method }) => method === "thread/start");
    expect(start.params).toMatchObject({ model: null, cwd: "/workspace", approvalPolicy: "untrusted" });
    const turn = await fake.told(({ method }) => method === "turn/start");
    expect(turn.params).toMatchObject({
      threadId: "thread-1",
      input: [{ type: "text", text: "go", text_elements: [] }],
      approvalPolicy: "untrusted",
      sandboxPolicy: { type: "dangerFullAccess" },
      model: "model-1",
    });
  });

  test("what other agents did is told before the first prompt, and once", async () => {
    const fake = new FakeCodex();
    const { opened } = await fakeSession(fake, onTestFinished, {
      spec: { handoffSummary: async () => "User: paint it red" },
    });
    for (const text of ["go", "on"]) {
      const outcome = opened.run(new RecordingTurn({ text, settings: SETTINGS }));
      await fake.told(
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

test("[S0-103] [S4-7] [S4-48] one process serves all threads, each by the id that Codex gave it", async () => {
  const fake = new FakeCodex();
  const { driver, opened } = await fakeSession(fake, onTestFinished);
  const spec = { settings: SETTINGS, nativeId: "thread-1", sandbox: fake, mcpServers: [] };
  const other = await driver.open({
    ...spec,
    threadId: "o",
    history: async () => [],
    handoffSummary: async () => "",
  });
  for (const [each, text] of [
    [opened, "first"],
    [other, "second"],
  ] as const) {
    const turn = new RecordingTurn({ text, settings: SETTINGS });
    const outcome = each.run(turn);
    await fake.told(({ method, params }) => method === "turn/start" && JSON.stringify(params).includes(text));
    fake.endTurn();
    expect(await outcome).toEqual({ status: "completed" });
    expect(turn.events).toContainEqual({ type: "session", nativeId: "thread-1" });
  }
  const asked = fake.messages.map(({ method }) => method).filter((method) => method !== undefined);
  const wanted = ["initialize", "initialized", "thread/start", "turn/start", "thread/resume", "turn/start"];
  expect(asked).toEqual(wanted);
  expect(fake.starts).toHaveLength(1);
  await other.close();
});

describe("the order of things", () => {
  test("[S3-70] what comes with the answer to the start is not lost", async () => {
    const fake = new FakeCodex();
    fake.answers.delete("turn/start");
    const { outcome, turn } = await running(fake);
    const { id } = await fake.told(({ method }) => method === "turn/start");
    const item = { type: "agentMessage", id: "m", text: "At once." };
    fake.say(
      { id: id ?? null, result: { turn: { id: "turn-1", status: "inProgress", items: [] } } },
      {
        method: "turn/started",
        params: { threadId: "thread-1", turn: { id: "turn-1", status: "inProgress", items: [] } },
      },
      { method: "item/completed", params: { ...PLACE, item } },
    );
    fake.endTurn();
    expect(await outcome).toEqual({ status: "completed" });
    expect(turn.completedItems).toEqual([item]);
  });
});

describe("a Codex that does not behave", () => {
  test("[S4-26] its death fails the turn once, with its last words, and the next turn takes the thread up", async () => {
    const fake = new FakeCodex();
    const { opened, outcome } = await running(fake);
    fake.die(9, "thread 'main' panicked\n");
    expect(await outcome).toEqual({
      status: "failed",
      error: {
        message: "Codex ended with exit code 9. It last said:\nthread 'main' panicked",
        errorInfo: "AgentFailed",
      },
    });
    const next = opened.run(new RecordingTurn({ text: "again", settings: SETTINGS }));
    const resumed = await fake.told(({ method }) => method === "thread/resume");
    expect(resumed.params).toMatchObject({ threadId: "thread-1", excludeTurns: true });
    await fake.told(
      ({ method, params }) => method === "turn/start" && JSON.stringify(params).includes("again"),
    );
    fake.endTurn();
    expect(await next).toEqual({ status: "completed" });
    expect(fake.starts).toHaveLength(2);
  });

  test("a program that never answers fails the turn in time", async () => {
    const fake = new FakeCodex();
    fake.answers.clear();
    const { opened } = await fakeSession(fake, onTestFinished, { timing: { start: 50 } });
    const failed = opened.run(new RecordingTurn({ text: "go", settings: SETTINGS }));
    await expect(failed).rejects.toThrow("Codex did not answer initialize in time.");
  });

  test("a turn that does not stop is stopped with its process", async () => {
    const fake = new FakeCodex();
    const { turn, outcome } = await running(fake);
    turn.stop();
    expect(await outcome).toEqual({ status: "interrupted" });
    expect(fake.messages.filter(({ method }) => method === "turn/interrupt")).toMatchObject([
      { params: { threadId: "thread-1", turnId: "turn-1" } },
    ]);
  });

  test("[S4-4] garbage between the lines does no harm", async () => {
    const fake = new FakeCodex();
    const { outcome, turn } = await running(fake);
    fake.say("garbage", "[]", "{}", { method: "no/such", params: {} }, { id: 77, result: {} });
    fake.say({ method: "item/started", params: { nonsense: true } });
    fake.endTurn();
    expect(await outcome).toEqual({ status: "completed" });
    expect(turn.completedItems).toEqual([]);
  });

  test("a question after the turn is answered with an error", async () => {
    const fake = new FakeCodex();
    const { outcome } = await running(fake);
    fake.endTurn();
    await outcome;
    fake.say({ id: 5, method: "item/fileChange/requestApproval", params: { ...PLACE, itemId: "f" } });
    expect(await fake.told(({ id, method }) => id === 5 && method === undefined)).toMatchObject({
      error: { message: "No turn runs in this thread." },
    });
  });

  test("a thread that Codex has lost is begun anew, with what was said in it", async () => {
    const fake = new FakeCodex();
    fake.answers.delete("thread/resume");
    const said: Turn = {
      ...{ id: "before", status: "completed" },
      items: [
        { type: "userMessage", id: "1", content: [{ type: "text", text: "paint it red" }] },
        { type: "agentMessage", id: "2", text: "x".repeat(5_000) },
      ],
    };
    const { opened } = await fakeSession(fake, onTestFinished, {
      spec: { nativeId: "lost", history: async () => [said] },
    });
    const turn = new RecordingTurn({ text: "go", settings: SETTINGS });
    const outcome = opened.run(turn);
    const { id } = await fake.told(({ method }) => method === "thread/resume");
    fake.say({ id: id ?? null, error: { code: -32600, message: "no rollout found for thread id lost" } });
    const start = await fake.told(({ method }) => method === "turn/start");
    fake.endTurn();
    expect(await outcome).toEqual({ status: "completed" });
    expect(turn.events).toContainEqual({ type: "session", nativeId: "thread-1" });
    const told = JSON.stringify(start.params);
    expect(told).toContain("User: paint it red");
    expect(told.length).toBeLessThan(4_000);
  });

  test("a thread that Codex cannot open now fails the turn with its words", async () => {
    const fake = new FakeCodex();
    fake.answers.delete("thread/resume");
    const { opened } = await fakeSession(fake, onTestFinished, { spec: { nativeId: "locked" } });
    const outcome = opened.run(new RecordingTurn({ text: "go", settings: SETTINGS }));
    const { id } = await fake.told(({ method }) => method === "thread/resume");
    fake.say({ id: id ?? null, error: { code: -32600, message: "thread in use by another Codex client" } });
    await expect(outcome).rejects.toThrow("in use by another Codex client");
  });
});

test("[S4-29] Codex gets the key that is meant for it, and says whose account it works with", async () => {
  const fake = new FakeCodex();
  const environment = { OPENAI_API_KEY: "sk-test" };
  const driver = new CodexDriver({
    ...{ program: async () => ({ command: ["codex"], environment }), version: "1", sandbox: fake },
  });
  const told = [
    { account: { type: "chatgpt", email: "a@b.c", planType: "plus" }, requiresOpenaiAuth: true },
    { account: { type: "apiKey" }, requiresOpenaiAuth: true },
    { account: null, requiresOpenaiAuth: true },
  ];
  const accounts: unknown[] = [];
  for (const account of told) {
    fake.answers.set("account/read", account);
    accounts.push(await driver.account());
  }
  expect(accounts).toEqual([
    { account: { type: "chatgpt", label: "a@b.c" }, requiresLogin: false },
    { account: { type: "apiKey" }, requiresLogin: false },
    { account: null, requiresLogin: true },
  ]);
  expect(fake.starts).toMatchObject([{ environment, policy: { type: "dangerFullAccess" }, cwd: "/" }]);
  await driver.close();
});

test("messages that nobody understands are counted", async () => {
  const fake = new FakeCodex();
  const launch = {
    command: ["codex"],
    environment: {},
    serverSandbox: UNSANDBOXED,
    folders: [],
  };
  const server = await CodexServer.start({
    ...{ launch, sandbox: fake, version: "1", trace: undefined, timing: CODEX_TIMING },
  });
  fake.say("garbage", { method: "no/such" }, { id: 9, method: "no/such" });
  await fake.told(({ id, method }) => id === 9 && method === undefined);
  expect(server.unknownMessages).toBe(3);
  await server.close();
  expect(server.isRunning).toBe(false);
});

test("a missing program is said with the way to get it, before any turn", async () => {
  const driver = new CodexDriver({ program: async () => undefined, version: "1" });
  expect(await driver.models()).toEqual([]);
  const fake = new FakeCodex();
  const spec = { threadId: "t", settings: SETTINGS, nativeId: undefined, sandbox: fake, mcpServers: [] };
  const failed = driver.open({ ...spec, history: async () => [], handoffSummary: async () => "" });
  await expect(failed).rejects.toThrow(/npm install -g @openai\/codex/);
});

/** Where Codex stands after a turn that ended so, as it is told. */
async function positionsAfter(status: string, more: Partial<TurnContext> = {}) {
  const fake = new FakeCodex();
  const turnOfReview = { id: PLACE.turnId, status: "inProgress", items: [] };
  fake.answers.set("thread/settings/update", {});
  fake.answers.set("review/start", { turn: turnOfReview, reviewThreadId: PLACE.threadId });
  const { opened } = await fakeSession(fake, onTestFinished);
  const turn = new RecordingTurn({ text: "go", settings: SETTINGS });
  const ended = opened.run({ ...contextOf(turn), ...more });
  await fake.told(({ method }) => method === "turn/start" || method === "review/start");
  fake.endTurn(status);
  await ended;
  return turn.events.filter(({ type }) => type === "position");
}

test("where a turn ends in Codex's own thread is told, so that a fork can begin there", async () => {
  expect(await positionsAfter("completed")).toEqual([{ type: "position", position: PLACE.turnId }]);
});

test.each(["interrupted", "failed"])("it is not told of a turn that was %s", async (status) => {
  expect(await positionsAfter(status)).toEqual([]);
});

test("it is not told of a review, which Codex keeps by another name", async () => {
  const review = { type: "uncommittedChanges" } as const;
  expect(await positionsAfter("completed", { kind: "review", review })).toEqual([]);
});
