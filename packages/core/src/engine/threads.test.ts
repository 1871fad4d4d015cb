import { FlintError } from "@flint/protocol";
import { Gate, settled, testEngine, UnreliableStore, verifies } from "@flint/testkit";
import { describe, expect, test } from "vitest";

describe("a new thread", () => {
  verifies("S0-21, S0-23, S0-28", "is answered, then sent, then subscribed to", async () => {
    const server = testEngine();
    const client = server.connect();
    const { thread } = await client.call("thread/start", {
      name: "mine",
      cwd: "/there",
      approvalPolicy: "never",
    });
    expect(thread).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      preview: "",
      name: "mine",
      modelProvider: "scripted",
      model: "scripted/steady",
      cwd: "/there",
      createdAt: server.clock.now() / 1000,
      updatedAt: server.clock.now() / 1000,
      archived: false,
      ephemeral: false,
      status: { type: "idle" },
    });
    expect(client.order).toEqual(["<- thread/start", "thread/started"]);
    expect(client.events[0]).toMatchObject({
      seq: 1,
      data: { thread, settings: { approvalPolicy: "never" } },
    });
    await client.runTurn(thread.id, "What is  this?\nTell me.");
    expect((await client.call("thread/read", { threadId: thread.id })).thread.preview).toBe(
      "What is this? Tell me.",
    );
  });

  test("that cannot be stored is rejected, and nothing is left of it", async () => {
    const store = new UnreliableStore();
    const client = testEngine({ store }).connect();
    store.refuses = () => true;
    await expect(client.call("thread/start", {})).rejects.toMatchObject({ kind: "storageFailed" });
    store.refuses = () => false;
    expect((await client.call("thread/list", {})).data).toEqual([]);
    expect(client.events).toEqual([]);
  });

  test("that is ephemeral works like any other, and is not listed", async () => {
    const store = new UnreliableStore();
    const server = testEngine({ store });
    const client = server.connect();
    const threadId = await client.startThread({ ephemeral: true });
    expect((await client.runTurn(threadId, "hi")).status).toBe("completed");
    expect((await client.call("thread/list", {})).data).toEqual([]);
    expect(store.journal).toEqual([]);
    const other = server.connect();
    expect((await other.call("thread/attach", { threadId })).turns).toHaveLength(1);
    const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
    expect(thread.ephemeral).toBe(true);
    await client.call("thread/delete", { threadId });
    await expect(client.call("thread/read", { threadId })).rejects.toMatchObject({ kind: "threadNotFound" });
  });
});

test.each(["thread/archive", "thread/delete"] as const)(
  "%s is rejected while a turn is running, unless the turn may be interrupted for it",
  async (method) => {
    const client = testEngine({ scripts: [[{ wait: new Gate() }]] }).connect();
    const threadId = await client.startThread();
    await client.startTurn(threadId, "go");
    await expect(client.call(method, { threadId })).rejects.toMatchObject({ kind: "turnInProgress" });
    await client.call(method, { threadId, interrupt: true });
    expect(client.eventsOf("turn/completed")).toMatchObject([{ data: { turn: { status: "interrupted" } } }]);
    expect(client.order.at(-1)).toBe(method === "thread/archive" ? "thread/archived" : "thread/deleted");
    // Nothing runs, so nothing has to be stopped.
    const other = await client.startThread();
    await client.call(method, { threadId: other, interrupt: true });
  },
);

describe("the list of threads", () => {
  verifies("S2-11, S2-12, S0-27", "hides archived threads until they are unarchived", async () => {
    const client = testEngine().connect();
    const [kept, archived] = [await client.startThread(), await client.startThread()];
    const list = async (params = {}) =>
      (await client.call("thread/list", params)).data.map((thread) => thread.id);
    await client.call("thread/archive", { threadId: archived });
    expect(client.order.slice(-2)).toEqual(["<- thread/archive", "thread/archived"]);
    expect([await list(), await list({ archived: true })]).toEqual([[kept], [archived]]);
    await client.call("thread/archive", { threadId: archived });
    expect(client.eventsOf("thread/archived")).toHaveLength(1);
    const { thread } = await client.call("thread/unarchive", { threadId: archived });
    expect(thread).toMatchObject({ id: archived, archived: false });
    expect(client.order.slice(-2)).toEqual(["<- thread/unarchive", "thread/unarchived"]);
    expect(new Set(await list())).toEqual(new Set([kept, archived]));
  });

  verifies("S2-13, S2-42", "shows the name of a thread, which all subscribers are sent", async () => {
    const server = testEngine();
    const [client, other] = [server.connect(), server.connect()];
    const threadId = await client.startThread();
    await other.call("thread/attach", { threadId });
    await client.call("thread/name/set", { threadId, name: "Spring cleaning" });
    expect((await other.waitFor("thread/name/updated")).data).toEqual({ threadId, name: "Spring cleaning" });
    expect((await client.call("thread/list", { searchTerm: "cleaning" })).data).toMatchObject([
      { id: threadId, name: "Spring cleaning" },
    ]);
  });

  test("shows the status of each, and notLoaded for those that are not loaded", async () => {
    const gate = new Gate();
    const store = new UnreliableStore();
    const first = testEngine({ store });
    const resting = await first.connect().startThread();
    await first.close();
    const client = testEngine({ store, scripts: [[{ wait: gate }]] }).connect();
    const active = await client.startThread();
    await client.startTurn(active, "go");
    const { data } = await client.call("thread/list", {});
    const statuses = Object.fromEntries(data.map((thread) => [thread.id, thread.status.type]));
    expect(statuses).toEqual({ [resting]: "notLoaded", [active]: "active" });
    expect((await client.call("thread/read", { threadId: resting })).thread.status.type).toBe("notLoaded");
  });

  verifies("S0-26", "comes in pages without repeats", async () => {
    const client = testEngine().connect();
    const server = new Set<string>();
    for (let count = 0; count < 5; count += 1) server.add(await client.startThread());
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.call("thread/list", { limit: 2, cursor });
      seen.push(...page.data.map((thread) => thread.id));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toHaveLength(5);
    expect(new Set(seen)).toEqual(server);
  });
});

describe("reading a thread", () => {
  verifies("S2-8", "returns it, with its turns if requested, including the running one", async () => {
    const gate = new Gate();
    const server = testEngine({ scripts: [[{ text: "one" }], [{ text: "two" }, { wait: gate }]] });
    const client = server.connect();
    const threadId = await client.startThread();
    await client.runTurn(threadId, "a");
    await client.startTurn(threadId, "b");
    await gate.reached;
    const reader = server.connect();
    expect(await reader.call("thread/read", { threadId })).toEqual({
      thread: expect.objectContaining({ id: threadId }),
    });
    const { turns } = await reader.call("thread/read", { threadId, includeTurns: true });
    expect(turns?.map((turn) => [turn.status, turn.itemsView, turn.items.length])).toEqual([
      ["completed", "full", 2],
      ["inProgress", "full", 2],
    ]);
    const page = await reader.call("thread/read", { threadId, includeTurns: true, limit: 1 });
    expect(page.turns?.map((turn) => turn.status)).toEqual(["inProgress"]);
    const older = await reader.call("thread/read", { threadId, includeTurns: true, cursor: page.nextCursor });
    expect(older.turns?.map((turn) => turn.status)).toEqual(["completed"]);
    gate.open();
    await client.waitFor("turn/completed", () => client.eventsOf("turn/completed").length === 2);
    expect(reader.events).toEqual([]);
  });

  test("lists its events after a position, and whether there are more", async () => {
    const client = testEngine().connect();
    const threadId = await client.startThread();
    await client.runTurn(threadId, "hi");
    const all = await client.call("thread/events/list", { threadId });
    expect(all.more).toBe(false);
    expect(all.events.map((event) => event.seq)).toEqual(all.events.map((_, at) => at + 1));
    const some = await client.call("thread/events/list", { threadId, afterSeq: 2, limit: 2 });
    expect([some.events, some.more, some.epoch]).toEqual([all.events.slice(2, 4), true, all.epoch]);
  });
});

describe("deleting a thread", () => {
  test("is answered when it is deleted, and sent to all subscribers", async () => {
    const server = testEngine();
    const [client, other] = [server.connect(), server.connect()];
    const threadId = await client.startThread();
    await client.runTurn(threadId, "hi");
    await other.call("thread/attach", { threadId });
    await client.call("thread/delete", { threadId });
    await settled();
    expect(client.order.slice(-2)).toEqual(["<- thread/delete", "thread/deleted"]);
    expect(other.events.map(({ type }) => type)).toEqual(["thread/deleted"]);
    expect((await client.call("thread/list", {})).data).toEqual([]);
    expect(server.driver.sessions[0]?.closes).toBe(1);
    for (const method of ["thread/read", "thread/attach", "thread/resume", "thread/delete"] as const) {
      await expect(client.call(method, { threadId })).rejects.toMatchObject({ kind: "threadNotFound" });
    }
  });

  test("that cannot be deleted unloads it, and all subscribers are sent that", async () => {
    class Stubborn extends UnreliableStore {
      override remove(): Promise<void> {
        return Promise.reject(new FlintError("storageFailed", "The disk keeps it."));
      }
    }
    const server = testEngine({ store: new Stubborn() });
    const [client, other] = [server.connect(), server.connect()];
    const threadId = await client.startThread();
    await other.call("thread/attach", { threadId });
    const refused = client.call("thread/delete", { threadId });
    await expect(refused).rejects.toMatchObject({ kind: "storageFailed" });
    expect(other.events.map(({ type }) => type)).toEqual(["thread/closed"]);
    expect((await client.call("thread/read", { threadId })).thread.id).toBe(threadId);
  });

  test("rejects the calls that wait behind it, because the thread no longer exists", async () => {
    const client = testEngine().connect();
    const threadId = await client.startThread();
    const [deleted, ...others] = await Promise.allSettled([
      client.call("thread/delete", { threadId }),
      client.call("turn/start", { threadId, input: [{ type: "text", text: "hi" }] }),
      client.call("thread/name/set", { threadId, name: "too late" }),
      client.call("config/set", { threadId, id: "thinking", value: "true" }),
    ]);
    expect(deleted.status).toBe("fulfilled");
    for (const other of others) {
      expect(other).toMatchObject({ status: "rejected", reason: { kind: "threadNotFound" } });
    }
  });

  test("is rejected while a turn is running, and so is archiving", async () => {
    const gate = new Gate();
    const client = testEngine({ scripts: [[{ wait: gate }]] }).connect();
    const threadId = await client.startThread();
    const activeTurnId = await client.startTurn(threadId, "go");
    for (const method of ["thread/delete", "thread/archive"] as const) {
      await expect(client.call(method, { threadId })).rejects.toMatchObject({
        kind: "turnInProgress",
        data: { activeTurnId },
      });
    }
  });
});
