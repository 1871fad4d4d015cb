import { Gate, type Script, settled, testEngine, UnreliableStore, verifies } from "@flint/testkit";
import { describe, expect, test } from "vitest";

const STORAGE_FAILED = { message: "The disk is full.", errorInfo: "StorageFailed" };

/** A thread on a disk that the test controls, with a turn that waits at a gate. */
async function running(...then: Script) {
  const gate = new Gate();
  const store = new UnreliableStore();
  const server = testEngine({
    store,
    scripts: [[{ text: "so far" }, { wait: gate }, ...then], [{ text: "again" }]],
  });
  const client = server.connect();
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  await gate.reached;
  const logged = async () => {
    const names: string[] = [];
    for await (const event of store.read(threadId)) names.push(event.type);
    return names;
  };
  return { gate, store, server, client, threadId, turnId, logged };
}

describe("a failing disk", () => {
  verifies("P20", "during a turn fails it, which is sent now and stored when there is room", async () => {
    const { gate, store, client, threadId, turnId, logged } = await running({ text: "more" });
    store.refuses = () => true;
    gate.open();
    const turn = await client.turnEnd(turnId);
    expect(turn).toMatchObject({ status: "failed", error: STORAGE_FAILED });
    expect(turn.items.map((item) => item.type)).toEqual(["userMessage", "agentMessage"]);
    await settled();
    expect(client.eventsOf("turn/completed")).toHaveLength(1);
    expect(await logged()).not.toContain("turn/completed");
    await expect(client.startTurn(threadId, "and?")).rejects.toMatchObject({ kind: "storageFailed" });

    store.refuses = () => false;
    expect((await client.runTurn(threadId, "again")).status).toBe("completed");
    expect((await logged()).filter((name) => name === "turn/completed")).toHaveLength(2);
    expect(client.eventsOf("turn/completed")).toHaveLength(2);
    const { turns } = await client.call("thread/read", { threadId, includeTurns: true });
    expect(turns?.map((known) => known.status)).toEqual(["failed", "completed"]);
  });

  test("ends a turn once, as failed, when only its end cannot be stored", async () => {
    const { gate, store, client, threadId, turnId } = await running();
    store.refuses = (bodies) => bodies.some((body) => body.type === "turn/completed");
    gate.open();
    expect(await client.turnEnd(turnId)).toMatchObject({ status: "failed", error: STORAGE_FAILED });
    await settled();
    expect(client.eventsOf("turn/completed")).toHaveLength(1);
    expect((await client.call("thread/attach", { threadId })).turns[0]?.status).toBe("failed");
  });

  test("fails the turn when streamed text cannot be stored, without losing text that was sent", async () => {
    const started = {
      emit: { type: "item/started", item: { type: "agentMessage", id: "m", text: "" } },
    } as const;
    const piece = { emit: { type: "item/agentMessage/delta", itemId: "m", delta: "seen by all" } } as const;
    const then = new Gate();
    const { gate, store, server, client, turnId, threadId } = await running(started, piece, { wait: then });
    gate.open();
    await then.reached;
    store.refuses = () => true;
    await server.clock.advance(100);
    const turn = await client.turnEnd(turnId);
    expect(turn).toMatchObject({ status: "failed", error: STORAGE_FAILED });
    expect(turn.items.at(-1)).toEqual({ type: "agentMessage", id: "m", text: "seen by all", partial: true });
    store.refuses = () => false;
    const { turns } = await client.call("thread/read", { threadId, includeTurns: true });
    expect(turns?.[0]?.items.at(-1)).toEqual(turn.items.at(-1));
  });

  test("stores the end of a turn when the thread is unloaded", async () => {
    const { gate, store, server, client, turnId, threadId, logged } = await running();
    store.refuses = () => true;
    gate.open();
    await client.turnEnd(turnId);
    store.refuses = () => false;
    await server.close();
    expect((await logged()).filter((name) => name === "turn/completed")).toHaveLength(1);
    const later = testEngine({ store }).connect();
    const { turns } = await later.call("thread/read", { threadId, includeTurns: true });
    expect(turns?.[0]).toMatchObject({ status: "failed", error: STORAGE_FAILED });
  });

  test("rejects a request that cannot be stored, without any effect", async () => {
    const { gate, store, client, threadId, turnId } = await running();
    gate.open();
    await client.turnEnd(turnId);
    store.refuses = () => true;
    const refused = { kind: "storageFailed", message: "The disk is full." };
    client.clear();
    await expect(client.startTurn(threadId, "and?")).rejects.toMatchObject(refused);
    await expect(client.call("thread/name/set", { threadId, name: "x" })).rejects.toMatchObject(refused);
    await expect(client.call("thread/archive", { threadId })).rejects.toMatchObject(refused);
    await expect(
      client.call("config/set", { threadId, id: "thinking", value: "true" }),
    ).rejects.toMatchObject(refused);
    expect(client.events).toEqual([]);
    expect((await client.call("thread/read", { threadId })).thread).toMatchObject({
      archived: false,
      status: { type: "idle" },
    });
  });

  test("ends a running turn when a name cannot be stored, because the log can no longer be trusted", async () => {
    const { store, client, threadId, turnId } = await running();
    store.refuses = (bodies) => bodies.some((body) => body.type === "thread/name/updated");
    await expect(client.call("thread/name/set", { threadId, name: "x" })).rejects.toMatchObject({
      kind: "storageFailed",
    });
    expect((await client.turnEnd(turnId)).error).toEqual(STORAGE_FAILED);
  });

  test("sends the end of a turn with a warning when it cannot be synced", async () => {
    const { gate, store, client, turnId } = await running();
    store.syncFails = true;
    gate.open();
    expect((await client.turnEnd(turnId)).status).toBe("completed");
    const order = client.order;
    expect(order.indexOf("warning")).toBeLessThan(order.indexOf("turn/completed"));
    expect((await client.waitFor("warning")).data).toMatchObject({ reason: "syncFailed" });
  });

  test("does not prevent reading a thread with an unfinished turn", async () => {
    const { store, threadId, server } = await running();
    store.refuses = (bodies) => bodies.some((body) => body.type === "turn/completed");
    await server.close();
    const client = testEngine({ store }).connect();
    const answer = await client.call("thread/attach", { threadId });
    expect(answer.turns.map((turn) => turn.status)).toEqual(["interrupted"]);
    await expect(client.startTurn(threadId, "go")).rejects.toMatchObject({ kind: "storageFailed" });
  });
});

describe("a slow disk", () => {
  test("delays what waits for it and everything behind, in order, and nothing else", async () => {
    const { gate, store, server, client, threadId, turnId } = await running();
    const disk = new Gate();
    store.syncWaits = () => disk.wait();
    gate.open();
    await disk.reached;
    const naming = client.call("thread/name/set", { threadId, name: "later" });
    await settled();
    const other = server.connect();
    expect((await other.call("thread/read", { threadId })).thread.name).toBe("later");
    expect(client.order).not.toContain("turn/completed");
    expect(client.order).not.toContain("<- thread/name/set");
    disk.open();
    await naming;
    await client.turnEnd(turnId);
    const order = client.order.slice(client.order.indexOf("turn/completed"));
    expect(order).toEqual([
      "turn/completed",
      "thread/status/changed",
      "<- thread/name/set",
      "thread/name/updated",
    ]);
  });
});
