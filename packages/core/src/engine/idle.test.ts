import { inputText } from "@flint/protocol";
import { BareDriver, Gate, settled, testEngine, UnreliableStore } from "@flint/testkit";
import { describe, expect, test } from "vitest";

const IDLE_MS = 60_000;

/** A store that counts how often threads are opened. */
class CountingStore extends UnreliableStore {
  opened = 0;

  override open(threadId: string) {
    this.opened += 1;
    return super.open(threadId);
  }
}

async function used() {
  const store = new CountingStore();
  const server = testEngine({ store, idleMs: IDLE_MS });
  const client = server.connect();
  const threadId = await client.startThread();
  await client.runTurn(threadId, "hi");
  const isLoaded = async () =>
    (await server.connect().call("thread/read", { threadId })).thread.status.type !== "notLoaded";
  return { store, server, client, threadId, isLoaded };
}

describe("an unused thread", () => {
  test("is unloaded after a while, with its agent, and loads again when it is used", async () => {
    const { store, server, client, threadId, isLoaded } = await used();
    await client.call("thread/unsubscribe", { threadId });
    await server.clock.advance(IDLE_MS - 1);
    expect(await isLoaded()).toBe(true);
    await server.clock.advance(2 * IDLE_MS);
    expect(await isLoaded()).toBe(false);
    expect(server.driver.sessions[0]?.closes).toBe(1);
    expect((await client.runTurn(threadId, "again")).status).toBe("completed");
    expect(store.opened).toBe(1);
    expect(server.driver.sessions[1]?.history).toHaveLength(1);
  });

  test("stays loaded while a client is subscribed", async () => {
    const { server, isLoaded } = await used();
    await server.clock.advance(10 * IDLE_MS);
    expect(await isLoaded()).toBe(true);
  });

  test("stays loaded while it works, even without subscribers", async () => {
    const gate = new Gate();
    const server = testEngine({ idleMs: IDLE_MS, scripts: [[{ wait: gate }]] });
    const client = server.connect();
    const threadId = await client.startThread();
    await client.startTurn(threadId, "go");
    client.session.close();
    await server.clock.advance(10 * IDLE_MS);
    expect(server.driver.turns[0]?.signal.aborted).toBe(false);
    gate.open();
    await settled();
    expect(server.driver.turns[0]?.outcome?.status).toBe("completed");
    await server.clock.advance(2 * IDLE_MS);
    const { thread } = await server.connect().call("thread/read", { threadId });
    expect(thread.status.type).toBe("notLoaded");
  });

  test("is loaded once, however many clients ask for it while it is unloaded", async () => {
    const { store, server, client, threadId } = await used();
    await client.call("thread/unsubscribe", { threadId });
    const [first, second] = [server.connect(), server.connect()];
    const resting = server.clock.advance(2 * IDLE_MS);
    const answers = await Promise.all([
      first.call("thread/attach", { threadId }),
      second.call("thread/name/set", { threadId, name: "both" }),
      first.call("thread/queue/list", { threadId }),
      resting,
    ]);
    expect(answers[0].turns).toHaveLength(1);
    expect(store.opened).toBeLessThanOrEqual(1);
    await server.clock.advance(2 * IDLE_MS);
    await Promise.all([
      second.call("thread/attach", { threadId }),
      second.call("thread/queue/list", { threadId }),
      first.call("thread/queue/list", { threadId }),
    ]);
    expect(store.opened).toBeLessThanOrEqual(2);
    expect((await first.call("thread/read", { threadId })).thread.name).toBe("both");
  });

  test("that is ephemeral is deleted", async () => {
    const server = testEngine({ idleMs: IDLE_MS });
    const client = server.connect();
    const threadId = await client.startThread({ ephemeral: true });
    await client.runTurn(threadId, "hi");
    await client.call("thread/unsubscribe", { threadId });
    await server.clock.advance(2 * IDLE_MS);
    await expect(client.call("thread/read", { threadId })).rejects.toMatchObject({ kind: "threadNotFound" });
  });
});

/** A thread without subscribers whose agent left something running in the background. */
async function leftRunning({ backgroundMs = 100 * IDLE_MS } = {}) {
  const background = { isRunning: true, endsWhenLookedAt: false, ends: 0 };
  const inputs: string[] = [];
  const gates: Gate[] = [];
  const driver = new BareDriver({
    run: async ({ input }) => {
      inputs.push(inputText(input));
      await gates.shift()?.wait();
      return { status: "completed" };
    },
    isBusy: () => {
      const { isRunning } = background;
      if (background.endsWhenLookedAt) background.isRunning = false;
      return isRunning;
    },
    close: async () => {
      background.ends += 1;
    },
  });
  const server = testEngine({ driver, idleMs: IDLE_MS, backgroundMs });
  const client = server.connect();
  const threadId = await client.startThread();
  await client.runTurn(threadId, "build it");
  await client.call("thread/unsubscribe", { threadId });
  const read = async () => {
    const { thread, turns } = await server.connect().call("thread/read", { threadId, includeTurns: true });
    return { isLoaded: thread.status.type !== "notLoaded", turns: turns ?? [] };
  };
  return { server, client, threadId, background, inputs, gates, read };
}

describe("background work in a thread without subscribers", () => {
  test("continues, and keeps the thread loaded until it has ended", async () => {
    const { server, background, read } = await leftRunning();
    await server.clock.advance(50 * IDLE_MS);
    expect([(await read()).isLoaded, background.ends, server.engine.isWorking]).toEqual([true, 0, true]);
    background.isRunning = false;
    expect(server.engine.isWorking).toBe(false);
    await server.clock.advance(2 * IDLE_MS);
    expect([(await read()).isLoaded, background.ends]).toEqual([false, 1]);
    expect((await read()).turns).toHaveLength(1);
  });

  test("is stopped when it takes too long, and a turn of the thread records that", async () => {
    const { server, background, read } = await leftRunning({ backgroundMs: 10 * IDLE_MS });
    await server.clock.advance(9 * IDLE_MS);
    expect(background.ends).toBe(0);
    await server.clock.advance(2 * IDLE_MS);
    expect(background.ends).toBe(1);
    const reason = expect.stringContaining("Background work of scripted was stopped");
    expect((await read()).turns[1]).toMatchObject({
      status: "completed",
      items: [{ type: "toolCall", tool: "background", status: "failed", error: reason }],
      _meta: { startedBy: "flint", reason },
    });
  });

  test("is mentioned to the agent in the next turn, once it was stopped", async () => {
    const { server, client, threadId, inputs } = await leftRunning({ backgroundMs: 10 * IDLE_MS });
    await server.clock.advance(12 * IDLE_MS);
    await client.runTurn(threadId, "is it built?");
    await client.runTurn(threadId, "and now?");
    const [, note, ...later] = inputs;
    expect(note).toMatch(/Background work of scripted was stopped.*is it built\?/s);
    expect(later).toEqual(["and now?"]);
  });

  test("continues as long as a client is subscribed", async () => {
    const { server, client, threadId, background } = await leftRunning({ backgroundMs: 10 * IDLE_MS });
    await client.call("thread/attach", { threadId });
    await server.clock.advance(50 * IDLE_MS);
    expect(background.ends).toBe(0);
  });

  test("continues while a turn is running, however long that takes", async () => {
    const { server, client, threadId, background, gates, read } = await leftRunning({
      backgroundMs: 10 * IDLE_MS,
    });
    const gate = new Gate();
    gates.push(gate);
    await client.startTurn(threadId, "and test it");
    await client.call("thread/unsubscribe", { threadId });
    await server.clock.advance(50 * IDLE_MS);
    expect(background.ends).toBe(0);
    gate.open();
    await settled();
    expect((await read()).turns.map(({ status }) => status)).toEqual(["completed", "completed"]);
  });

  test("is not recorded as stopped if it ends by then", async () => {
    const { server, background, read } = await leftRunning({ backgroundMs: 10 * IDLE_MS });
    await server.clock.advance(10 * IDLE_MS - 1);
    background.endsWhenLookedAt = true;
    await server.clock.advance(3 * IDLE_MS);
    expect((await read()).turns).toHaveLength(1);
  });
});
