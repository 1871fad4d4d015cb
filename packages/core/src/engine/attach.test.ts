import {
  type EventBody,
  emptyThread,
  reduceThread,
  type ThreadEvent,
  type ThreadState,
} from "@flint/protocol";
import {
  attachedState,
  Gate,
  type Script,
  settled,
  testEngine,
  UnreliableStore,
  verifies,
} from "@flint/testkit";
import { describe, expect, test } from "vitest";

const started = {
  emit: { type: "item/started", item: { type: "agentMessage", id: "m", text: "" } },
} as const;
const piece = (delta: string) => ({ emit: { type: "item/agentMessage/delta", itemId: "m", delta } }) as const;
const SAID: Script = [started, piece("Hello "), piece("there")];

/** A thread with a completed turn and one that is streaming. */
async function running(then: Script = []) {
  const gate = new Gate();
  const store = new UnreliableStore();
  const server = testEngine({ store, scripts: [[{ text: "before" }], [...SAID, { wait: gate }, ...then]] });
  const owner = server.connect();
  const threadId = await owner.startThread();
  await owner.runTurn(threadId, "one");
  const turnId = await owner.startTurn(threadId, "two");
  await gate.reached;
  await settled();
  return { server, store, gate, owner, threadId, turnId, client: server.connect() };
}

function fold(state: ThreadState, events: readonly ThreadEvent[]): ThreadState {
  return events.reduce(reduceThread, state);
}

describe("attaching to a thread", () => {
  test("shows its current state, including the item in progress, and continues from there", async () => {
    const { server, client, threadId, turnId, gate, owner } = await running([piece("!")]);
    const answer = await client.call("thread/attach", { threadId });
    expect(answer).toMatchObject({ truncated: false, thread: { status: { type: "active" } } });
    expect(answer.turns.map((turn) => turn.status)).toEqual(["completed", "inProgress"]);
    expect(answer.turns[1]?.items.at(-1)).toMatchObject({ id: "m", text: "Hello there" });
    expect(answer.openItemIds).toEqual(["m"]);
    expect(client.events).toEqual([]);
    gate.open();
    await client.turnEnd(turnId);
    expect((await server.connect().call("thread/attach", { threadId })).openItemIds).toEqual([]);
    expect(client.events.map((event) => event.type)).toEqual([
      "item/agentMessage/delta",
      "item/completed",
      "turn/completed",
      "thread/status/changed",
    ]);
    expect(client.eventsOf("item/agentMessage/delta")[0]?.data).toMatchObject({ delta: "!", offset: 11 });
    const folded = fold(attachedState(answer), client.events);
    expect(folded.turns.at(-1)).toEqual(fold(emptyThread(threadId), owner.events).turns.at(-1));
  });

  test("returns as many turns as requested, and a cursor for older ones", async () => {
    const { client, threadId } = await running();
    const one = await client.call("thread/attach", { threadId, turns: 1 });
    expect(one.turns).toHaveLength(1);
    expect(one.nextCursor).toBeDefined();
    expect((await client.call("thread/attach", { threadId, turns: 0 })).turns).toEqual([]);
    const older = await client.call("thread/read", { threadId, includeTurns: true, cursor: one.nextCursor });
    expect(older.turns?.map((turn) => turn.status)).toEqual(["completed"]);
  });

  test("after a known event sends everything after it, and nothing before", async () => {
    const { client, owner, threadId, gate, turnId } = await running();
    const { epoch, seq } = await owner.call("thread/attach", { threadId });
    const afterSeq = seq - 4;
    const answer = await client.call("thread/attach", { threadId, afterSeq, epoch });
    expect(answer).toMatchObject({ truncated: false, turns: [] });
    gate.open();
    await client.turnEnd(turnId);
    await settled();
    const { events } = await client.call("thread/events/list", { threadId });
    const numbers = client.events.flatMap((event) => event.seq ?? []);
    expect(numbers).toEqual(events.map((event) => event.seq).filter((number) => number > afterSeq));
  });

  test("with a position in another log, or beyond the end, starts from the current state and reports that", async () => {
    const { client, threadId } = await running();
    const { epoch, seq } = await client.call("thread/attach", { threadId });
    const cursors = [
      { afterSeq: 2, epoch: "another" },
      { afterSeq: seq + 1, epoch },
    ];
    for (const cursor of cursors) {
      const answer = await client.call("thread/attach", { threadId, ...cursor });
      expect(answer.truncated).toBe(true);
      expect(answer.turns).toHaveLength(2);
      expect(answer.seq).toBe(seq);
    }
    await settled();
    expect(client.events).toEqual([]);
  });

  test("with a position too far back starts from the current state too", async () => {
    const store = new UnreliableStore();
    const first = testEngine({ store });
    const threadId = await first.connect().startThread();
    await first.close();
    const { writer } = await store.open(threadId);
    const renamed: EventBody = { type: "thread/name/updated", data: { threadId, name: "again" } };
    writer.append(Array<EventBody>(50_001).fill(renamed), 0);
    await writer.close();
    const client = testEngine({ store }).connect();
    const near = await client.call("thread/attach", { threadId, afterSeq: 2 });
    const far = await client.call("thread/attach", { threadId, afterSeq: 1 });
    expect([near.truncated, far.truncated, far.seq]).toEqual([false, true, 50_002]);
  });

  test("again from another position replaces the first subscription", async () => {
    const { client, threadId, gate, turnId } = await running();
    await client.call("thread/attach", { threadId });
    await client.call("thread/attach", { threadId });
    gate.open();
    await client.turnEnd(turnId);
    expect(client.eventsOf("turn/completed")).toHaveLength(1);
  });

  test("that does not exist is rejected", async () => {
    const client = testEngine().connect();
    await expect(client.call("thread/attach", { threadId: "unknown" })).rejects.toMatchObject({
      kind: "threadNotFound",
    });
  });

  test("while an event waits for the disk neither loses nor repeats it", async () => {
    const { client, store, threadId, turnId, gate } = await running();
    const disk = new Gate();
    store.syncWaits = () => disk.wait();
    gate.open();
    await disk.reached;
    const attaching = client.call("thread/attach", { threadId });
    await settled();
    expect(client.received).toEqual([]);
    disk.open();
    const answer = await attaching;
    expect(answer.turns.at(-1)).toMatchObject({ id: turnId, status: "completed" });
    await settled();
    expect(client.eventsOf("turn/completed")).toEqual([]);
  });
});

describe("resuming a thread", () => {
  verifies(
    "S0-25, S0-28, S0-24",
    "responds, sends thread/started, replays the events and continues live",
    async () => {
      const { client, owner, threadId, turnId, gate } = await running();
      const result = await client.call("thread/resume", { threadId });
      expect(result).toMatchObject({ thread: { id: threadId }, truncated: false });
      gate.open();
      await client.turnEnd(turnId);
      await settled();
      expect(client.order.slice(0, 4)).toEqual([
        "<- thread/resume",
        "thread/started",
        "turn/started",
        "item/started",
      ]);
      expect(client.eventsOf("turn/completed")).toHaveLength(2);
      const mine = fold(emptyThread(threadId), client.events);
      const theirs = fold(emptyThread(threadId), owner.events);
      const items = (state: ThreadState) => state.turns.map((turn) => turn.items);
      expect(items(mine)).toEqual(items(theirs));
      expect({ ...mine, turns: [] }).toEqual({ ...theirs, turns: [] });
    },
  );

  test("after a known event replays only what came after it", async () => {
    const { client, owner, threadId } = await running();
    const { epoch, seq } = await owner.call("thread/attach", { threadId });
    await client.call("thread/resume", { threadId, afterSeq: seq - 1, epoch });
    await settled();
    expect(client.events.map((event) => event.type)).toEqual(["thread/started", "item/agentMessage/delta"]);
    const far = await client.call("thread/resume", { threadId, afterSeq: seq + 5, epoch });
    expect(far.truncated).toBe(true);
  });

  test("sends changed settings, in the response and to all subscribers", async () => {
    const { client, owner, threadId } = await running();
    const { thread } = await client.call("thread/resume", {
      threadId,
      model: "scripted/swift",
      cwd: "/there",
    });
    expect(thread).toMatchObject({ model: "scripted/swift", cwd: "/there", modelProvider: "scripted" });
    expect((await client.waitFor("thread/started")).data).toMatchObject({
      thread: { model: "scripted/swift" },
      settings: { model: "scripted/swift", cwd: "/there" },
    });
    expect((await owner.waitFor("thread/settings/updated")).data.settings.cwd).toBe("/there");
    await settled();
    expect(client.eventsOf("thread/settings/updated")).toHaveLength(1);
  });

  test("does not ask again what was answered long ago", async () => {
    const server = testEngine({ scripts: [[{ command: "make" }]] });
    const owner = server.connect();
    const threadId = await owner.startThread();
    const turnId = await owner.startTurn(threadId, "go");
    const { approval } = (await owner.waitFor("approval/requested")).data;
    await owner.call("approval/respond", {
      threadId,
      approvalId: approval.id,
      decision: { outcome: "allow" },
    });
    await owner.turnEnd(turnId);
    const client = server.connect();
    await client.call("thread/resume", { threadId });
    await client.waitFor("turn/completed");
    expect(client.eventsOf("approval/requested")).toEqual([]);
    expect(client.eventsOf("approval/resolved")).toHaveLength(1);
  });
});

describe("a subscription", () => {
  test("ends when the client unsubscribes, and the turn continues", async () => {
    const { client, owner, threadId, turnId, gate } = await running();
    await client.call("thread/attach", { threadId });
    await client.call("thread/unsubscribe", { threadId });
    gate.open();
    expect((await owner.turnEnd(turnId)).status).toBe("completed");
    expect(client.events).toEqual([]);
  });

  test("ends when the client disconnects, and the turn continues", async () => {
    const { server, owner, threadId, turnId, gate } = await running();
    owner.session.close();
    gate.open();
    await settled();
    const later = server.connect();
    const { turns } = await later.call("thread/read", { threadId, includeTurns: true });
    expect(turns?.at(-1)).toMatchObject({ id: turnId, status: "completed" });
    expect(owner.eventsOf("turn/completed")).toHaveLength(1);
  });

  test("of a client that throws disturbs no other client", async () => {
    const { server, owner, threadId, turnId, gate } = await running();
    let calls = 0;
    const broken = server.engine.connect({
      send: () => {
        calls += 1;
        throw new Error("broken pipe");
      },
      isFull: () => false,
    });
    await broken.call("thread/resume", { threadId }, () => undefined);
    await broken.call("thread/attach", { threadId }, () => undefined);
    gate.open();
    expect((await owner.turnEnd(turnId)).status).toBe("completed");
    await settled();
    // Once for the resume, once for the reason why the subscription ended, once for the attach.
    expect(calls).toBe(3);
    expect(owner.session.isOnlySubscriber(threadId)).toBe(true);
  });

  test("of a client whose response cannot be sent gets the effects of its call nevertheless", async () => {
    const server = testEngine();
    const owner = server.connect();
    const threadId = await owner.startThread();
    const mute = server.engine.connect({ send: () => undefined, isFull: () => false });
    const calling = mute.call("turn/start", { threadId, input: [{ type: "text", text: "hi" }] }, () => {
      throw new Error("no way back");
    });
    await expect(calling).rejects.toThrow("no way back");
    expect((await owner.waitFor("turn/completed")).data.turn.status).toBe("completed");
  });

  test("knows whether it is the only one of its thread", async () => {
    const server = testEngine();
    const [one, other] = [server.connect(), server.connect()];
    const threadId = await one.startThread();
    expect([one.session.isOnlySubscriber(threadId), other.session.isOnlySubscriber(threadId)]).toEqual([
      true,
      false,
    ]);
    await other.call("thread/attach", { threadId });
    expect([one.session.isOnlySubscriber(threadId), other.session.isOnlySubscriber(threadId)]).toEqual([
      false,
      false,
    ]);
  });
});
