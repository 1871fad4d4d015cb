import { isKnownItem, type Turn } from "@flint/protocol";
import {
  Gate,
  type Script,
  ScriptedDriver,
  type TestClient,
  testEngine,
  UnreliableStore,
  verifies,
} from "@flint/testkit";
import { describe, expect, test } from "vitest";

/** A thread with three turns: one, two, three. */
async function threeTurns(scripts?: readonly Script[]) {
  const store = new UnreliableStore();
  const driver = new ScriptedDriver({ nativeId: "native", ...(scripts === undefined ? {} : { scripts }) });
  const server = testEngine({ store, driver });
  const client = server.connect();
  const threadId = await client.startThread();
  const ids: string[] = [];
  for (const word of ["one", "two", "three"]) ids.push((await client.runTurn(threadId, word)).id);
  return { server, store, client, threadId, ids };
}

async function prompts(client: TestClient, threadId: string): Promise<unknown[]> {
  const { turns } = await client.call("thread/read", { threadId, includeTurns: true });
  return (turns ?? []).map(promptOf);
}

function promptOf(turn: Turn): unknown {
  const first = turn.items[0];
  if (first === undefined || !isKnownItem(first) || first.type !== "userMessage") return undefined;
  return Reflect.get(first.content[0] ?? {}, "text");
}

describe("going back in a conversation", () => {
  verifies(
    "S2-14",
    "with thread/rollback drops the last turns, and the agent starts again from the rest",
    async () => {
      const { server, client, threadId, ids } = await threeTurns();
      const result = await client.call("thread/rollback", { threadId, numTurns: 2 });
      expect(result).toMatchObject({ thread: { id: threadId }, turnIds: ids.slice(1) });
      const answer = client.order.indexOf("<- thread/rollback");
      expect(client.order.slice(answer, answer + 2)).toEqual(["<- thread/rollback", "thread/reverted"]);
      const { revertId } = result;
      expect((await client.waitFor("thread/reverted")).data).toEqual({
        threadId,
        turnIds: ids.slice(1),
        revertId,
      });
      expect(await prompts(client, threadId)).toEqual(["one"]);
      await client.runTurn(threadId, "four");
      expect(await prompts(client, threadId)).toEqual(["one", "four"]);
      const session = server.driver.sessions[1];
      expect(session?.history.map(promptOf)).toEqual(["one"]);
      expect(session?.nativeId).toBeUndefined();
      expect(server.sandbox.launches).toEqual([]);
    },
  );

  test("with thread/revert goes back to before a turn", async () => {
    const { client, threadId, ids } = await threeTurns();
    const { turnIds } = await client.call("thread/revert", { threadId, beforeTurnId: ids[1] ?? "" });
    expect(turnIds).toEqual(ids.slice(1));
    expect(await prompts(client, threadId)).toEqual(["one"]);
    const { turns } = await client.call("thread/attach", { threadId });
    expect(turns.map(promptOf)).toEqual(["one"]);
  });

  test("stays reverted when the thread is loaded again, and the agent's old session is not resumed", async () => {
    const { server, store, client, threadId } = await threeTurns();
    await client.call("thread/rollback", { threadId, numTurns: 1 });
    await server.close();
    const later = testEngine({ store, driver: new ScriptedDriver({ nativeId: "new" }) });
    const reader = later.connect();
    expect(await prompts(reader, threadId)).toEqual(["one", "two"]);
    await reader.runTurn(threadId, "again");
    expect(later.driver.sessions[0]).toMatchObject({ nativeId: undefined });
    expect(later.driver.sessions[0]?.history.map(promptOf)).toEqual(["one", "two"]);
  });

  test("is different from not going back, where the agent's own session is resumed", async () => {
    const { server, store, threadId } = await threeTurns();
    await server.close();
    const later = testEngine({ store });
    await later.connect().runTurn(threadId, "again");
    expect(later.driver.sessions[0]?.nativeId).toBe("native");
  });

  test("is rejected for more turns than there are, for an unknown turn, and while a turn is running", async () => {
    const { client, threadId } = await threeTurns();
    await expect(client.call("thread/rollback", { threadId, numTurns: 4 })).rejects.toMatchObject({
      kind: "invalidParams",
      data: { field: "numTurns", turns: 3 },
    });
    await expect(client.call("thread/revert", { threadId, beforeTurnId: "gone" })).rejects.toMatchObject({
      kind: "turnNotFound",
    });
    const gate = new Gate();
    const busy = testEngine({ scripts: [[{ wait: gate }]] }).connect();
    const other = await busy.startThread();
    await busy.startTurn(other, "go");
    await expect(busy.call("thread/rollback", { threadId: other, numTurns: 1 })).rejects.toMatchObject({
      kind: "turnInProgress",
    });
  });
});

describe("forking a thread", () => {
  verifies("S2-10", "copies the turns, subscribes to the copy, and lets settings differ", async () => {
    const { client, threadId } = await threeTurns();
    const { thread, modelProvider } = await client.call("thread/fork", { threadId, model: "scripted/swift" });
    expect(thread).toMatchObject({ forkedFromId: threadId, model: "scripted/swift", preview: "one" });
    expect([thread.id === threadId, modelProvider]).toEqual([false, "scripted"]);
    expect(client.order.slice(-2)).toEqual(["<- thread/fork", "thread/started"]);
    expect(await prompts(client, thread.id)).toEqual(["one", "two", "three"]);
    const turn = await client.runTurn(thread.id, "four");
    expect(turn.status).toBe("completed");
    expect(await prompts(client, thread.id)).toEqual(["one", "two", "three", "four"]);
    expect(await prompts(client, threadId)).toEqual(["one", "two", "three"]);
    expect((await client.call("thread/read", { threadId })).thread.model).toBe("scripted/steady");
  });

  test("up to a turn copies the items and the usage of each turn", async () => {
    const usage = { usage: { inputTokens: 10, outputTokens: 1 } };
    const { client, threadId, ids } = await threeTurns([[usage], [usage, { text: "2" }], [usage]]);
    const { thread } = await client.call("thread/fork", { threadId, lastTurnId: ids[1] ?? "" });
    const attached = await client.call("thread/attach", { threadId: thread.id });
    expect(attached.turns.map((turn) => turn.items.length)).toEqual([1, 2]);
    expect(attached.usage).toEqual({ inputTokens: 20, outputTokens: 2 });
    await expect(client.call("thread/fork", { threadId, lastTurnId: "gone" })).rejects.toMatchObject({
      kind: "turnNotFound",
    });
  });

  test("leaves out a running turn and reverted turns", async () => {
    const gate = new Gate();
    const { client, threadId } = await threeTurns([[], [], [], [{ wait: gate }]]);
    await client.call("thread/rollback", { threadId, numTurns: 1 });
    await client.startTurn(threadId, "running");
    const { thread } = await client.call("thread/fork", { threadId });
    expect(await prompts(client, thread.id)).toEqual(["one", "two"]);
    expect(thread.status.type).toBe("idle");
  });

  test("does not copy grants of the session", async () => {
    const client = testEngine({ scripts: [[{ command: "make" }], [{ command: "make" }]] }).connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    const { approval } = (await client.waitFor("approval/requested")).data;
    const decision = { outcome: "allow", scope: "session" } as const;
    await client.call("approval/respond", { threadId, approvalId: approval.id, decision });
    await client.turnEnd(turnId);
    const { thread } = await client.call("thread/fork", { threadId });
    await client.startTurn(thread.id, "again");
    const asked = await client.waitFor("approval/requested", (event) => event.data.threadId === thread.id);
    expect(asked.data.approval.action).toMatchObject({ command: "make" });
  });

  test("can create an ephemeral thread", async () => {
    const { client, threadId, store } = await threeTurns();
    const before = store.journal.length;
    const { thread } = await client.call("thread/fork", { threadId, ephemeral: true });
    expect(await prompts(client, thread.id)).toEqual(["one", "two", "three"]);
    expect(store.journal).toHaveLength(before);
  });

  test("that cannot be stored leaves nothing behind", async () => {
    const { client, threadId, store } = await threeTurns();
    store.refuses = (bodies) => bodies.some((body) => body.type === "turn/started");
    await expect(client.call("thread/fork", { threadId })).rejects.toMatchObject({ kind: "storageFailed" });
    store.refuses = () => false;
    expect((await client.call("thread/list", {})).data.map((thread) => thread.id)).toEqual([threadId]);
  });
});

describe("compacting", () => {
  verifies("S2-15", "is a turn of its own, without a user message", async () => {
    const compaction = { type: "contextCompaction", id: "c", summary: "All was well." } as const;
    const scripts: Script[] = [[], [{ emit: { type: "item/completed", item: compaction } }]];
    const server = testEngine({ scripts });
    const client = server.connect();
    const threadId = await client.startThread();
    await client.runTurn(threadId, "hi");
    const { turn } = await client.call("thread/compact/start", { threadId });
    expect(turn).toMatchObject({ kind: "compact", status: "inProgress" });
    expect((await client.turnEnd(turn.id)).items).toEqual([compaction]);
    expect(server.driver.turns[1]).toMatchObject({ kind: "compact", input: [] });
  });
});
