import { Gate, ScriptedDriver, testEngine, UnreliableStore } from "@flint/testkit";
import { describe, expect, test } from "vitest";

/** A thread with two turns of an agent that keeps its own sessions. */
async function twoTurns({ reportsPositions = false } = {}) {
  const store = new UnreliableStore();
  const driver = new ScriptedDriver({ id: "first", nativeId: "original", reportsPositions });
  const second = new ScriptedDriver({ id: "second" });
  const server = testEngine({ store, driver, otherDrivers: [second] });
  const client = server.connect();
  const threadId = await client.startThread();
  const one = await client.runTurn(threadId, "one");
  await client.runTurn(threadId, "two");
  const fork = async (params = {}) => (await client.call("thread/fork", { threadId, ...params })).thread.id;
  return { server, store, driver, client, threadId, first: one.id, fork };
}

const WHOLE = "User: one\nAgent: You said: one\n\nUser: two\nAgent: You said: two";

describe("the agent of a fork", () => {
  test("may start from a copy of its session in the original, or else from a summary of everything", async () => {
    const { driver, client, fork } = await twoTurns();
    await client.runTurn(await fork(), "three");
    expect(driver.sessions[1]).toMatchObject({
      nativeId: undefined,
      forkOf: { nativeId: "original", handoffSummary: "" },
      handoffSummary: WHOLE,
    });
  });

  test("may do so after a restart, and in a fork of a fork without turns", async () => {
    const { server, store, client, fork } = await twoTurns();
    const { thread } = await client.call("thread/fork", { threadId: await fork() });
    await server.engine.close();
    const driver = new ScriptedDriver({ id: "first" });
    await testEngine({ store, driver }).connect().runTurn(thread.id, "three");
    expect(driver.sessions[0]?.forkOf).toEqual({ nativeId: "original", handoffSummary: "" });
  });

  test("continues in its own session afterwards", async () => {
    const { server, store, client, fork, threadId } = await twoTurns();
    const forkId = await fork();
    await client.runTurn(forkId, "three");
    await server.engine.close();
    const driver = new ScriptedDriver({ id: "first" });
    const later = testEngine({ store, driver }).connect();
    await later.runTurn(forkId, "four");
    await later.runTurn(threadId, "three");
    expect(driver.sessions.map(({ nativeId, forkOf }) => [nativeId, forkOf])).toEqual([
      ["original", undefined],
      ["original", undefined],
    ]);
  });

  test("gets a summary of what other agents did since, and nothing else", async () => {
    const { driver, client, fork, threadId } = await twoTurns();
    const turnId = await client.startTurn(threadId, "three", { model: "second/steady" });
    await client.turnEnd(turnId);
    const [model] = await driver.models();
    const forkId = await fork({ model: model?.id });
    await client.runTurn(forkId, "four");
    expect(driver.sessions[1]?.forkOf).toEqual({
      nativeId: "original",
      handoffSummary: "User: three\nAgent: You said: three",
    });
  });

  test("gets no session that contains more than the fork", async () => {
    const { driver, client, fork, first, threadId } = await twoTurns();
    await client.runTurn(await fork({ lastTurnId: first }), "in a fork of the first turn");
    const before = await fork();
    driver.enqueue([{ text: "Three." }]);
    await client.runTurn(threadId, "three");
    await client.runTurn(before, "in a fork of what was there before");
    const gate = new Gate();
    driver.enqueue([{ wait: gate }], [{ text: "Well." }]);
    const running = await client.startTurn(threadId, "four");
    await client.runTurn(await fork(), "in a fork while a turn runs");
    gate.open();
    await client.turnEnd(running);
    expect(driver.sessions.slice(1).map(({ forkOf }) => forkOf)).toEqual([undefined, undefined, undefined]);
    expect(driver.sessions[2]?.handoffSummary).toBe(WHOLE);
  });

  test("gets none whose turns were reverted, and none of a deleted thread", async () => {
    const { driver, client, fork, threadId } = await twoTurns();
    const [reverted, deleted] = [await fork(), await fork()];
    await client.call("thread/rollback", { threadId, numTurns: 1 });
    await client.runTurn(reverted, "three");
    await client.call("thread/delete", { threadId });
    await client.runTurn(deleted, "three");
    expect(driver.sessions.slice(1).map(({ forkOf }) => forkOf)).toEqual([undefined, undefined]);
  });
});

describe("the agent of a fork, if sessions can be copied up to any turn,", () => {
  const ORIGINAL = { nativeId: "original", handoffSummary: "" };

  test("starts from a copy that ends where the fork does, even while the original continues", async () => {
    const { driver, client, fork, first, threadId } = await twoTurns({ reportsPositions: true });
    await client.runTurn(await fork({ lastTurnId: first }), "in a fork of the first turn");
    const gate = new Gate();
    driver.enqueue([{ wait: gate }], [{ text: "Well." }]);
    const running = await client.startTurn(threadId, "three");
    await client.runTurn(await fork({ lastTurnId: first }), "in a fork while a turn runs");
    gate.open();
    await client.turnEnd(running);
    const copied = { ...ORIGINAL, position: first };
    expect(driver.sessions.slice(1).map(({ forkOf }) => forkOf)).toEqual([copied, copied]);
  });

  test("does so in a fork of a fork, after a restart, and when the original was reverted or deleted", async () => {
    const { server, store, client, fork, first, threadId } = await twoTurns({ reportsPositions: true });
    const child = await fork({ lastTurnId: first });
    const { thread } = await client.call("thread/fork", { threadId: child });
    await client.call("thread/rollback", { threadId, numTurns: 2 });
    await client.call("thread/delete", { threadId });
    await server.engine.close();
    const driver = new ScriptedDriver({ id: "first" });
    await testEngine({ store, driver }).connect().runTurn(thread.id, "three");
    expect(driver.sessions[0]?.forkOf).toEqual({ ...ORIGINAL, position: first });
  });

  test("does so in the thread itself after a revert, until it has a session there again", async () => {
    const { server, store, driver, client, first, threadId } = await twoTurns({ reportsPositions: true });
    await client.call("thread/rollback", { threadId, numTurns: 1 });
    await client.runTurn(threadId, "another two");
    expect(driver.sessions[1]).toMatchObject({
      nativeId: undefined,
      forkOf: { ...ORIGINAL, position: first },
      handoffSummary: "User: one\nAgent: You said: one",
    });
    await server.engine.close();
    const later = new ScriptedDriver({ id: "first" });
    await testEngine({ store, driver: later }).connect().runTurn(threadId, "three");
    expect([later.sessions[0]?.nativeId, later.sessions[0]?.forkOf]).toEqual(["original", undefined]);
  });

  test("gets a summary of what came after the last turn that it can be copied at", async () => {
    const { driver, client, fork, first, threadId } = await twoTurns({ reportsPositions: true });
    driver.enqueue([{ fail: { message: "no more" } }]);
    const failed = await client.runTurn(threadId, "three");
    driver.enqueue([{ text: "Four." }]);
    await client.runTurn(threadId, "four");
    const { turns = [] } = await client.call("thread/read", { threadId, includeTurns: true });
    driver.enqueue([{ text: "Well." }]);
    await client.runTurn(await fork({ lastTurnId: failed.id }), "go on");
    const forkOf = driver.sessions.at(-1)?.forkOf;
    expect(forkOf).toMatchObject({ nativeId: "original", position: turns[1]?.id });
    expect(forkOf?.handoffSummary).toMatch(/^User: three/);
    expect(turns[0]?.nativeEnd).toEqual({ agent: "first", sessionId: "original", position: first });
  });
});
