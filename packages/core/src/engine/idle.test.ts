import { Gate, settled, testEngine, UnreliableStore } from "@flint/testkit";
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
  const made = testEngine({ store, idleMs: IDLE_MS });
  const client = made.connect();
  const threadId = await client.startThread();
  await client.runTurn(threadId, "hi");
  const isLoaded = async () =>
    (await made.connect().call("thread/read", { threadId })).thread.status.type !== "notLoaded";
  return { store, made, client, threadId, isLoaded };
}

describe("a thread that nobody uses", () => {
  test("is put to rest after a while, with its agent, and loads again when it is used", async () => {
    const { store, made, client, threadId, isLoaded } = await used();
    await client.call("thread/unsubscribe", { threadId });
    await made.clock.advance(IDLE_MS - 1);
    expect(await isLoaded()).toBe(true);
    await made.clock.advance(2 * IDLE_MS);
    expect(await isLoaded()).toBe(false);
    expect(made.driver.sessions[0]?.closes).toBe(1);
    expect((await client.runTurn(threadId, "again")).status).toBe("completed");
    expect(store.opened).toBe(1);
    expect(made.driver.sessions[1]?.history).toHaveLength(1);
  });

  test("stays while somebody follows it", async () => {
    const { made, isLoaded } = await used();
    await made.clock.advance(10 * IDLE_MS);
    expect(await isLoaded()).toBe(true);
  });

  test("stays while it works, also if nobody looks", async () => {
    const gate = new Gate();
    const made = testEngine({ idleMs: IDLE_MS, scripts: [[{ wait: gate }]] });
    const client = made.connect();
    const threadId = await client.startThread();
    await client.startTurn(threadId, "go");
    client.session.close();
    await made.clock.advance(10 * IDLE_MS);
    expect(made.driver.turns[0]?.signal.aborted).toBe(false);
    gate.open();
    await settled();
    expect(made.driver.turns[0]?.outcome?.status).toBe("completed");
    await made.clock.advance(2 * IDLE_MS);
    const { thread } = await made.connect().call("thread/read", { threadId });
    expect(thread.status.type).toBe("notLoaded");
  });

  test("is loaded once, however many ask for it at the moment it is put to rest", async () => {
    const { store, made, client, threadId } = await used();
    await client.call("thread/unsubscribe", { threadId });
    const [first, second] = [made.connect(), made.connect()];
    const resting = made.clock.advance(2 * IDLE_MS);
    const answers = await Promise.all([
      first.call("thread/attach", { threadId }),
      second.call("thread/name/set", { threadId, name: "both" }),
      first.call("thread/queue/list", { threadId }),
      resting,
    ]);
    expect(answers[0].turns).toHaveLength(1);
    expect(store.opened).toBeLessThanOrEqual(1);
    await made.clock.advance(2 * IDLE_MS);
    await Promise.all([
      second.call("thread/attach", { threadId }),
      second.call("thread/queue/list", { threadId }),
      first.call("thread/queue/list", { threadId }),
    ]);
    expect(store.opened).toBeLessThanOrEqual(2);
    expect((await first.call("thread/read", { threadId })).thread.name).toBe("both");
  });

  test("that was to leave nothing behind is forgotten", async () => {
    const made = testEngine({ idleMs: IDLE_MS });
    const client = made.connect();
    const threadId = await client.startThread({ ephemeral: true });
    await client.runTurn(threadId, "hi");
    await client.call("thread/unsubscribe", { threadId });
    await made.clock.advance(2 * IDLE_MS);
    await expect(client.call("thread/read", { threadId })).rejects.toMatchObject({ kind: "threadNotFound" });
  });
});
