import { afterEach, describe, expect, test } from "vitest";
import { aThread, aTurn, FakeThread, NO_ANSWER, Refusal, SETTINGS } from "../testing/fake-server.ts";
import { paramsOf, Stage } from "../testing/scene.ts";

const usage = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });

const { scene, caughtUp } = new Stage(afterEach);

describe("the state of a thread", () => {
  test("includes events from before the handle existed and all later ones", async () => {
    const { fake, thread } = await scene((played, turnId) => {
      played.turnStarted(turnId);
      played.completeMessage(turnId, "m", "done");
      played.turnCompleted(turnId);
    });
    expect(thread.state.thread.id).toBe("thread-1");
    await caughtUp();
    expect(thread.state).toMatchObject({ seq: 1, settings: SETTINGS });
    await thread.run("go");
    expect(thread.state.turns).toMatchObject([
      { id: "turn-1", status: "completed", items: [{ text: "done" }] },
    ]);
    fake.stored("thread/name/updated", { name: "A good name" });
    await caughtUp();
    expect(thread.state.thread.name).toBe("A good name");
    expect(thread.state.seq).toBe(fake.seq);
    thread.release();
    fake.stored("thread/name/updated", { name: "A later name" });
    await caughtUp();
    expect(thread.state.thread.name).toBe("A good name");
  });

  test("after attach is the snapshot plus everything that arrived meanwhile", async () => {
    const { client, server } = await scene();
    const fake = new FakeThread(server, "thread-2");
    const running = { type: "commandExecution", id: "c", command: "ls", cwd: "/", status: "inProgress" };
    server.answer("thread/attach", () => {
      // Stored before the snapshot: contained in it. After it: not.
      fake.started();
      fake.turnStarted("turn-1");
      const answer = {
        thread: aThread("thread-2", { status: { type: "active" } }),
        settings: SETTINGS,
        epoch: "e1",
        seq: 2,
        truncated: false,
        turns: [aTurn("turn-1", { items: [running as never] })],
        approvals: [],
        questions: [],
        queue: [],
        usage: usage(7, 8),
        workedMs: 1_500,
        lastUsage: { turnId: "turn-0", usage: usage(3, 4), modelContextWindow: 9_000 },
      };
      queueMicrotask(() => fake.completeMessage("turn-1", "m", "hello"));
      return answer;
    });
    const thread = await client.attachThread("thread-2");
    expect(thread?.state).toMatchObject({ activeTurnId: "turn-1", usage: usage(7, 8), workedMs: 1_500 });
    const last = { lastUsage: usage(3, 4), usageTurnId: "turn-0", modelContextWindow: 9_000 };
    expect(thread?.state).toMatchObject(last);
    expect(thread?.state.openItemIds).toContain("c");
    await caughtUp();
    expect(thread?.state.turns[0]?.items).toMatchObject([{ id: "c" }, { id: "m", text: "hello" }]);
    expect(thread?.cursor).toEqual({ afterSeq: 4, epoch: "e1" });
  });

  describe("after attach in the middle of a turn", () => {
    const command = { type: "commandExecution", id: "c", command: "ls", cwd: "/" };
    const message = { type: "agentMessage", id: "m", text: "Hel" };
    const plan = { type: "plan", id: "p", text: "1. go" };

    test.each([
      [
        "are those that the server names",
        [plan, { ...command, status: "completed" }, message],
        ["p", "m"],
        ["p", "m"],
      ],
      ["are none if the server names none", [message], [], []],
      [
        "of an older server are by their status",
        [{ ...command, status: "inProgress" }, message],
        undefined,
        ["c", "m"],
      ],
      [
        "of an older server are without the prompt",
        [{ type: "userMessage", id: "u", content: [] }],
        undefined,
        [],
      ],
      [
        "of an older server are without a message above others",
        [message, { ...command, status: "completed" }],
        undefined,
        [],
      ],
    ])("the items in progress %s", async (_, items, openItemIds, open) => {
      const { client, server } = await scene();
      server.answer("thread/attach", () => ({
        thread: aThread("thread-2", { status: { type: "active" } }),
        ...{ settings: SETTINGS, epoch: "e1", seq: 2, truncated: false, usage: usage(0, 0) },
        turns: [aTurn("turn-1", { items: items as never })],
        ...{ approvals: [], questions: [], queue: [], openItemIds },
      }));
      const { state } = await client.attachThread("thread-2");
      expect(state.openItemIds).toEqual(open);
    });
  });

  test("has the whole history once a thread is resumed", async () => {
    const { client, server } = await scene();
    const fake = new FakeThread(server, "thread-2");
    server.answer("thread/resume", () => {
      // The history follows the response, with other messages in between.
      setImmediate(() => {
        fake.started();
        setImmediate(() => fake.wholeTurn("turn-1", "hello"));
      });
      return { thread: aThread("thread-2"), epoch: "e1", truncated: false, seq: 4 };
    });
    const thread = await client.resumeThread("thread-2");
    expect(thread.state.seq).toBeGreaterThanOrEqual(4);
    expect(thread.state.turns[0]?.items).toMatchObject([{ text: "hello" }]);
  });

  test("stops waiting when the connection closes", async () => {
    const { client, server } = await scene();
    server.answer("thread/resume", () => {
      setImmediate(() => void client.close());
      return { thread: aThread("thread-2"), epoch: "e1", truncated: false, seq: 4 };
    });
    await expect(client.resumeThread("thread-2")).rejects.toMatchObject({ name: "FlintConnectionError" });
  });

  test("continues from a cursor without a snapshot, and is replaced when the position no longer exists", async () => {
    const { server, fake, thread } = await scene((played, turnId) => played.wholeTurn(turnId, "one"));
    await thread.run("go");
    const before = thread.state;
    const snapshot = {
      thread: aThread("thread-1", { name: "from the snapshot" }),
      settings: SETTINGS,
      epoch: "e2",
      seq: 90,
      turns: [],
      approvals: [],
      questions: [],
      queue: [],
      usage: usage(1, 1),
    };
    server.answer("thread/attach", () => ({ ...snapshot, truncated: false }));
    await thread.attach(thread.cursor);
    expect(thread.state).toBe(before);
    expect(paramsOf(server, "thread/attach")).toEqual([{ threadId: "thread-1", afterSeq: fake.seq }]);
    server.answer("thread/attach", () => ({ ...snapshot, truncated: true }));
    await thread.attach(thread.cursor);
    expect(thread.state).toMatchObject({ seq: 90, turns: [], thread: { name: "from the snapshot" } });
    expect(paramsOf(server, "thread/attach").at(-1)).toMatchObject({ epoch: "e2" });
  });

  test("of a resumed thread is its history; resuming a deleted thread leaves nothing behind", async () => {
    const { client, server } = await scene();
    const fake = new FakeThread(server, "thread-2");
    server.answer("thread/resume", () => {
      queueMicrotask(() => {
        fake.started();
        fake.wholeTurn("turn-1", "what I said before");
      });
      return { thread: aThread("thread-2"), epoch: "e1", truncated: false };
    });
    const thread = await client.resumeThread("thread-2", { model: "test/other" });
    await caughtUp();
    expect(thread?.state.turns).toMatchObject([{ items: [{ text: "what I said before" }] }]);
    expect(paramsOf(server, "thread/resume")).toEqual([{ model: "test/other", threadId: "thread-2" }]);
    server.answer("thread/resume", () => {
      throw new Refusal("threadNotFound", "gone");
    });
    await expect(client.resumeThread("thread-3")).rejects.toHaveProperty("kind", "threadNotFound");
  });
});

describe("a thread", () => {
  test("can be steered, interrupted and released", async () => {
    const { server, thread } = await scene();
    server.answer("turn/steer", () => ({ turnId: "turn-1" }));
    server.answer("turn/interrupt", () => ({}));
    server.answer("thread/unsubscribe", () => ({}));
    expect(await thread.steer("faster")).toEqual({ turnId: "turn-1" });
    await thread.interrupt();
    await thread.unsubscribe();
    expect(paramsOf(server, "turn/steer")).toEqual([
      { threadId: "thread-1", input: [{ type: "text", text: "faster" }] },
    ]);
    expect(paramsOf(server, "turn/interrupt")).toEqual([{ threadId: "thread-1" }]);
    expect(server.count("thread/unsubscribe")).toBe(1);
  });

  test("whose start is never answered does not stay subscribed", async () => {
    const { client, server } = await scene();
    server.answer("thread/start", () => NO_ANSWER);
    await expect(client.startThread({}, { timeoutMs: 1 })).rejects.toHaveProperty("kind", "timedOut");
  });
});
