import { emptyThread, reduceThread, type ThreadEvent } from "@flint/protocol";
import { Gate, type Script, settled, testEngine, UnreliableStore, verifies } from "@flint/testkit";
import { describe, expect, test } from "vitest";

const started = {
  emit: { type: "item/started", item: { type: "agentMessage", id: "m", text: "" } },
} as const;
const piece = (delta: string) => ({ emit: { type: "item/agentMessage/delta", itemId: "m", delta } }) as const;

function fold(threadId: string, events: readonly ThreadEvent[]) {
  return events.reduce(reduceThread, emptyThread(threadId));
}

/** A thread with a client that keeps up and one that the test can stall. */
async function subscribed(...script: Script) {
  const store = new UnreliableStore();
  const server = testEngine({ store, scripts: [script] });
  const [quick, slow] = [server.connect(), server.connect()];
  const threadId = await quick.startThread();
  await slow.call("thread/resume", { threadId });
  const text = () =>
    slow
      .eventsOf("item/agentMessage/delta")
      .map((event) => event.data.delta)
      .join("");
  return { server, store, quick, slow, threadId, text };
}

describe("a client that stops reading", () => {
  verifies(
    "P09",
    "costs no memory, disturbs no one, and gets everything once from the log when it reads again",
    async () => {
      const { quick, slow, threadId, text } = await subscribed({ deltas: 5_000, size: 20 });
      slow.full = true;
      const turnId = await quick.startTurn(threadId, "go");
      expect((await quick.turnEnd(turnId)).status).toBe("completed");
      expect(slow.events.map((event) => event.type)).toEqual(["thread/started"]);
      slow.drained();
      await slow.turnEnd(turnId);
      expect(text()).toBe("x".repeat(100_000));
      expect(fold(threadId, slow.events).turns[0]?.items).toEqual(
        fold(threadId, quick.events).turns[0]?.items,
      );
    },
  );

  test("in the middle of a text gets the rest of it, without the part that it has", async () => {
    const gate = new Gate();
    const { server, quick, slow, threadId, text } = await subscribed(
      started,
      piece("one "),
      { wait: gate },
      piece("two "),
      piece("three"),
    );
    const turnId = await quick.startTurn(threadId, "go");
    await gate.reached;
    await settled();
    expect(text()).toBe("one ");
    slow.full = true;
    gate.open();
    await quick.turnEnd(turnId);
    await server.clock.advance(1_000);
    slow.drained();
    await slow.turnEnd(turnId);
    expect(text()).toBe("one two three");
    const offsets = slow.eventsOf("item/agentMessage/delta").map((event) => event.data.offset);
    expect(offsets).toEqual([0, 4]);
  });

  test("is sent what is still running once it has caught up", async () => {
    const gate = new Gate();
    const { quick, slow, threadId, text } = await subscribed(
      started,
      piece("one "),
      { wait: gate },
      piece("two"),
    );
    slow.full = true;
    const turnId = await quick.startTurn(threadId, "go");
    await gate.reached;
    slow.drained();
    await slow.waitFor("item/agentMessage/delta");
    gate.open();
    await slow.turnEnd(turnId);
    expect(text()).toBe("one two");
    expect((await slow.turnEnd(turnId)).itemsView).toBe("full");
  });

  test("is not sent from the log what still waits for the disk", async () => {
    const { store, quick, slow, threadId } = await subscribed({ text: "hi" });
    const disk = new Gate();
    store.syncWaits = () => disk.wait();
    slow.full = true;
    await quick.startTurn(threadId, "go");
    await disk.reached;
    slow.drained();
    await settled();
    expect(slow.eventsOf("item/completed")).toHaveLength(2);
    expect(slow.eventsOf("turn/completed")).toEqual([]);
    disk.open();
    await slow.waitFor("turn/completed");
    await settled();
    expect(slow.eventsOf("turn/completed")).toHaveLength(1);
  });

  test("again and again gets every event once and in order", async () => {
    const many: Script = Array.from({ length: 200 }, (_, count) => ({ text: `message ${count}` }));
    const { quick, slow, threadId } = await subscribed(...many);
    let stalls = 0;
    const ended = quick.startTurn(threadId, "go").then((turnId) => slow.turnEnd(turnId));
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    while (!isOver) {
      slow.full = stalls % 2 === 0;
      if (!slow.full) slow.drained();
      stalls += 1;
      await Promise.resolve();
      if (stalls % 50 === 0) await settled();
    }
    await settled();
    const numbers = slow.events.flatMap((event) => event.seq ?? []);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers).toEqual(numbers.toSorted((left, right) => left - right));
    const texts = slow.eventsOf("item/completed").map(({ data: { item } }) => Reflect.get(item, "text"));
    expect(texts.slice(1)).toEqual(many.map((_, count) => `message ${count}`));
  });

  test("and then disconnects is no longer read for", async () => {
    let reads = 0;
    const { store, quick, slow, threadId } = await subscribed({ text: "hi" });
    slow.full = true;
    await quick.runTurn(threadId, "go");
    store.readWaits = async () => {
      reads += 1;
    };
    slow.session.close();
    slow.drained();
    await settled();
    expect(reads).toBe(0);
  });

  test("is sent that its thread was deleted, however far behind it is", async () => {
    const { quick, slow, threadId } = await subscribed({ text: "hi" });
    slow.full = true;
    await quick.runTurn(threadId, "go");
    await quick.call("thread/delete", { threadId });
    expect(slow.events.at(-1)?.type).toBe("thread/deleted");
    slow.drained();
    await settled();
    expect(slow.events.at(-1)?.type).toBe("thread/deleted");
    expect(slow.session.isSubscribed(threadId)).toBe(false);
  });
});
