import { MemoryStore } from "@flint/host/store";
import { Gate, testEngine } from "@flint/testkit";
import { describe, expect, test } from "vitest";

const text = (words: string) => [{ type: "text", text: words }] as const;
const send = (threadId: string, words: string, clientId = "mine") => ({
  ...{ threadId, clientId },
  input: [...text(words)],
});

describe("a turn with a clientId", () => {
  test("is started once, however often it is requested, also while it runs", async () => {
    const gate = new Gate();
    const server = testEngine({ scripts: [[{ wait: gate }]] });
    const client = server.connect();
    const threadId = await client.startThread();
    const first = await client.call("turn/start", send(threadId, "go"));
    const running = await client.call("turn/start", send(threadId, "go"));
    gate.open();
    await client.waitFor("turn/completed");
    const ended = await client.call("turn/start", send(threadId, "go"));
    expect([running.turn?.id, ended.turn?.id]).toEqual([first.turn?.id, first.turn?.id]);
    expect(ended.turn?.status).toBe("completed");
    expect(client.eventsOf("turn/started")).toHaveLength(1);
  });

  test("is known after a restart of the server, behind later turns, without its secrets", async () => {
    const store = new MemoryStore();
    const secret = "sk-ant-api03-0123456789abcdefghijklmnop";
    const before = testEngine({ store });
    const threadId = await before.connect().startThread();
    const { turn } = await before.connect().call("turn/start", send(threadId, `use ${secret}`));
    const watcher = before.connect();
    await watcher.call("thread/resume", { threadId });
    await watcher.waitFor("turn/completed");
    await watcher.runTurn(threadId, "something else");
    await before.close();
    const client = testEngine({ store }).connect();
    const again = await client.call("turn/start", send(threadId, `use ${secret}`));
    expect(again.turn?.id).toBe(turn?.id);
    expect(client.eventsOf("turn/started")).toEqual([]);
    await expect(client.call("turn/start", send(threadId, "another"))).rejects.toThrow(/used before/);
  });

  test("with another input is rejected, and the same id in another thread is another turn", async () => {
    const client = testEngine().connect();
    const [one, two] = [await client.startThread(), await client.startThread()];
    const first = await client.call("turn/start", send(one, "go"));
    await expect(client.call("turn/start", send(one, "stop"))).rejects.toMatchObject({
      kind: "invalidParams",
      message: expect.stringContaining("another input"),
    });
    const other = await client.call("turn/start", send(two, "go"));
    expect(other.turn?.id).not.toBe(first.turn?.id);
  });

  test("is queued once", async () => {
    const gate = new Gate();
    const client = testEngine({ scripts: [[{ wait: gate }]] }).connect();
    const threadId = await client.startThread();
    await client.call("turn/start", send(threadId, "go", "first"));
    const queued = { ...send(threadId, "next"), delivery: "queue" } as const;
    const first = await client.call("turn/start", queued);
    const again = await client.call("turn/start", queued);
    expect(again.queuedInput?.id).toBe(first.queuedInput?.id);
    const { queue } = await client.call("thread/queue/list", { threadId });
    expect(queue).toHaveLength(1);
    gate.open();
  });
});

describe("a thread with a clientId", () => {
  test("is started once, also by two requests at the same time", async () => {
    const server = testEngine();
    const [one, two] = [server.connect(), server.connect()];
    const answers = await Promise.all(
      [one, two, one].map((client) => client.call("thread/start", { name: "n", clientId: "mine" })),
    );
    expect(new Set(answers.map(({ thread }) => thread.id)).size).toBe(1);
    await two.waitFor("thread/started");
    expect((await one.call("thread/list", {})).data).toHaveLength(1);
    await expect(one.call("thread/start", { name: "m", clientId: "mine" })).rejects.toThrow(
      /another request/,
    );
  });

  test.each([false, true])("is known after a restart of the server (archived: %s)", async (archived) => {
    const store = new MemoryStore();
    const before = testEngine({ store });
    const client = before.connect();
    const first = await client.call("thread/start", { name: "n", clientId: "mine" });
    if (archived) await client.call("thread/archive", { threadId: first.thread.id });
    await before.close();
    const later = testEngine({ store }).connect();
    const again = await later.call("thread/start", { name: "n", clientId: "mine" });
    expect(again.thread.id).toBe(first.thread.id);
    await expect(later.call("thread/start", { name: "m", clientId: "mine" })).rejects.toThrow(
      /another request/,
    );
    const other = await later.call("thread/start", { name: "n", clientId: "yours" });
    expect(other.thread.id).not.toBe(first.thread.id);
  });

  test("that was deleted is started again", async () => {
    const client = testEngine().connect();
    const first = await client.call("thread/start", { clientId: "mine" });
    await client.call("thread/delete", { threadId: first.thread.id });
    const again = await client.call("thread/start", { clientId: "mine" });
    expect(again.thread.id).not.toBe(first.thread.id);
  });

  test("whose start failed can be started again", async () => {
    const client = testEngine().connect();
    const wrong = client.call("thread/start", { model: "nothing/like-it", clientId: "mine" });
    await expect(wrong).rejects.toThrow();
    await expect(client.call("thread/start", { clientId: "mine" })).resolves.toBeDefined();
  });
});
