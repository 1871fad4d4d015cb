import type { ThreadWriter } from "@flint/core/ports";
import { BareDriver, Gate, ScriptedDriver, settled, testEngine, UnreliableStore } from "@flint/testkit";
import { describe, expect, test } from "vitest";

const STOPPING = { kind: "overloaded", message: "The server is stopping; connect again in a moment." };

describe("a server that stops", () => {
  test("ends turns, agents and stores, and can be stopped twice", async () => {
    const gate = new Gate();
    const store = new UnreliableStore();
    const server = testEngine({ store, scripts: [[{ wait: gate }]] });
    const client = server.connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    await gate.reached;
    await Promise.all([server.close(), server.close()]);
    expect((await client.turnEnd(turnId)).status).toBe("interrupted");
    expect(client.events.at(-1)).toMatchObject({ type: "thread/closed", data: { threadId } });
    expect(server.driver.sessions[0]?.closes).toBe(1);
    await (await store.open(threadId)).writer.close();
  });

  test("starts no queued input", async () => {
    const driver = new BareDriver({
      run: async (turn) => {
        while (!turn.signal.aborted) await turn.ready();
        return { status: "completed" };
      },
    });
    const server = testEngine({ driver });
    const client = server.connect();
    const threadId = await client.startThread();
    await client.startTurn(threadId, "one");
    const input = [{ type: "text", text: "two" } as const];
    await client.call("turn/start", { threadId, input, delivery: "queue" });
    await server.close();
    await settled();
    expect(client.eventsOf("turn/started")).toHaveLength(1);
  });

  test("accepts no more requests", async () => {
    const server = testEngine();
    const client = server.connect();
    await server.close();
    await expect(client.call("thread/start", {})).rejects.toMatchObject(STOPPING);
    await expect(client.call("model/list", {})).rejects.toMatchObject(STOPPING);
  });

  test("stops a turn that a request is about to start", async () => {
    const store = new UnreliableStore();
    const disk = new Gate();
    const server = testEngine({ store, scripts: [[], [{ hang: true }]] });
    const client = server.connect();
    const threadId = await client.startThread();
    store.syncWaits = () => disk.wait();
    await client.startTurn(threadId, "one");
    await disk.reached;
    const starting = client.startTurn(threadId, "two");
    await settled();
    const closing = server.close();
    disk.open();
    const turn = await client.turnEnd(await starting);
    expect(turn).toMatchObject({ status: "interrupted", error: { errorInfo: "ServerStopped" } });
    await closing;
    expect(server.driver.turns).toHaveLength(1);
  });

  test("waits for a request for a bounded time, and rejects it in the end", async () => {
    const thinking = new Gate();
    const slow = new (class extends ScriptedDriver {
      override async models() {
        if (thinks) await thinking.wait();
        return super.models();
      }
    })({ id: "slow" });
    let thinks = false;
    const server = testEngine({ otherDrivers: [slow] });
    const client = server.connect();
    const threadId = await client.startThread();
    thinks = true;
    const resuming = client.call("thread/resume", { threadId, model: "slow/steady" });
    const refused = expect(resuming).rejects.toMatchObject({ kind: "overloaded" });
    await thinking.reached;
    const closing = server.close();
    await server.clock.advance(2_000);
    await closing;
    thinking.open();
    await refused;
  });

  test("waits for an agent for a bounded time", async () => {
    const forever = () => new Promise<never>(() => undefined);
    const server = testEngine({ driver: new BareDriver({ run: forever, close: forever }) });
    const client = server.connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    await settled();
    const closing = server.close();
    await server.clock.advance(20_000);
    await closing;
    expect((await client.turnEnd(turnId)).status).toBe("interrupted");
  });

  test("keeps nothing of a thread that is being created", async () => {
    const making = new Gate();
    const writers: ThreadWriter[] = [];
    const store = new (class extends UnreliableStore {
      override async create(threadId: string) {
        await making.wait();
        const writer = await super.create(threadId);
        writers.push(writer);
        return writer;
      }
    })();
    const server = testEngine({ store });
    const client = server.connect();
    const starting = client.call("thread/start", {});
    const refused = expect(starting).rejects.toMatchObject(STOPPING);
    await making.reached;
    await server.close();
    making.open();
    await refused;
    expect(store.journal).toEqual([]);
    expect(() => writers[0]?.append([], 0)).toThrow("closed");
  });

  test("releases a thread that is being loaded", async () => {
    const loading = new Gate();
    const inner = new UnreliableStore();
    const first = testEngine({ store: inner });
    const threadId = await first.connect().startThread();
    await first.close();
    const store = new (class extends UnreliableStore {
      override async open(id: string) {
        await loading.wait();
        return super.open(id);
      }
    })(inner);
    const server = testEngine({ store });
    const attaching = server.connect().call("thread/attach", { threadId });
    const outcome = attaching.then(
      () => "answered",
      () => "refused",
    );
    await loading.reached;
    const closing = server.close();
    loading.open();
    await closing;
    expect(["answered", "refused"]).toContain(await outcome);
    await (await inner.open(threadId)).writer.close();
  });

  test("stops commands that run outside of any thread", async () => {
    const server = testEngine();
    server.sandbox.play = (spec) =>
      new Promise((resolve) => {
        spec.signal?.addEventListener("abort", () =>
          resolve({ exitCode: 137, durationMs: 1, ended: "aborted" }),
        );
      });
    const running = server.connect().call("command/exec", { command: ["sleep", "100"] });
    await settled();
    await server.close();
    expect((await running).exitCode).toBe(137);
  });
});
