import type { TurnOutcome } from "@flint/core/ports";
import type { UserInput } from "@flint/protocol";
import {
  BareDriver,
  Gate,
  ScriptedDriver,
  settled,
  testEngine,
  UnreliableStore,
  verifies,
} from "@flint/testkit";
import { describe, expect, test } from "vitest";

const text = (value: string): UserInput[] => [{ type: "text", text: value }];

describe("a turn from start to end", () => {
  verifies(
    "S0-29, S0-34, S0-39, S2-31",
    "sends the response of turn/start before everything that the turn causes",
    async () => {
      const client = testEngine().connect();
      const threadId = await client.startThread();
      const turnId = await client.startTurn(threadId, "hello");
      await client.turnEnd(turnId);
      expect(client.order).toEqual([
        "<- thread/start",
        "thread/started",
        "<- turn/start",
        "turn/started",
        "item/started",
        "item/completed",
        "thread/status/changed",
        "item/started",
        "item/agentMessage/delta",
        "item/completed",
        "turn/completed",
        "thread/status/changed",
      ]);
      expect((await client.waitFor("turn/started")).data).toMatchObject({ threadId, turn: { id: turnId } });
    },
  );

  test("sends everything in the same order to a client that does not wait", async () => {
    const { engine } = testEngine();
    const order: string[] = [];
    const session = engine.connect({ send: (event) => order.push(event.type), isFull: () => false });
    let turn: Promise<void> | undefined;
    await session.call("thread/start", {}, ({ thread }) => {
      order.push("<- thread/start");
      turn = session.call("turn/start", { threadId: thread.id, input: text("hi") }, () =>
        order.push("<- turn/start"),
      );
    });
    await turn;
    expect(order.slice(0, 4)).toEqual(["<- thread/start", "thread/started", "<- turn/start", "turn/started"]);
  });

  verifies(
    "S0-35, S0-36, S0-40, S2-32",
    "ends with turn/completed, which has the status and every item of the turn",
    async () => {
      const scripts = [[{ reasoning: "hm" }, { command: "ls", output: ["a\n"] }, { text: "Done." }]];
      const client = testEngine({ scripts }).connect();
      const turn = await client.runTurn(await client.startThread(), "go");
      expect(turn).toMatchObject({ status: "completed", itemsView: "full", kind: "prompt", durationMs: 0 });
      expect(turn.items.map((item) => item.type)).toEqual([
        "userMessage",
        "reasoning",
        "commandExecution",
        "agentMessage",
      ]);
      expect(turn.error).toBeUndefined();
    },
  );

  test("marks its items as not included if they are too large for one message", async () => {
    const big = "x".repeat(3 * 1024 * 1024);
    const client = testEngine({ scripts: [[{ text: big }, { text: big }]] }).connect();
    const threadId = await client.startThread();
    const turn = await client.runTurn(threadId, "go");
    expect(turn).toMatchObject({ status: "completed", items: [], itemsView: "notLoaded" });
    const { turns } = await client.call("thread/read", { threadId, includeTurns: true });
    expect(turns?.[0]?.items).toHaveLength(3);
  });

  verifies(
    "S0-41, S0-42, S0-43, S0-46, S2-35, S2-36, S2-37",
    "streams an item from its start through its deltas to its final version",
    async () => {
      const nextId = (() => {
        let count = 0;
        return () => `item-${++count}`;
      })();
      const driver = new ScriptedDriver({ scripts: [[{ text: "Hello there", pieces: 2 }]], nextId });
      const client = testEngine({ driver }).connect();
      const threadId = await client.startThread();
      const turnId = await client.startTurn(threadId, "go");
      await client.turnEnd(turnId);
      const place = { threadId, turnId };
      const own = client.events.filter((event) => JSON.stringify(event.data).includes('"item-1"'));
      expect(own.slice(0, 3).map(({ type, data }) => ({ type, data }))).toEqual([
        { type: "item/started", data: { ...place, item: { type: "agentMessage", id: "item-1", text: "" } } },
        {
          type: "item/agentMessage/delta",
          data: { ...place, itemId: "item-1", delta: "Hello there", offset: 0 },
        },
        {
          type: "item/completed",
          data: { ...place, item: { type: "agentMessage", id: "item-1", text: "Hello there" } },
        },
      ]);
    },
  );

  test("numbers stored events in rising order, and does not number live ones", async () => {
    const client = testEngine({ scripts: [[{ text: "one" }, { command: "pwd" }]] }).connect();
    const threadId = await client.startThread();
    await client.runTurn(threadId, "go");
    await client.call("thread/name/set", { threadId, name: "numbered" });
    const numbers = client.events.flatMap((event) => event.seq ?? []);
    expect(numbers).toEqual(numbers.toSorted((left, right) => left - right));
    expect(new Set(numbers).size).toBe(numbers.length);
    const unnumbered = client.events.filter((event) => event.seq === undefined).map((event) => event.type);
    expect(new Set(unnumbered)).toEqual(new Set(["item/agentMessage/delta", "thread/status/changed"]));
  });

  test("sends the status of the thread when it changes", async () => {
    const gate = new Gate();
    const client = testEngine({ scripts: [[{ wait: gate }]] }).connect();
    const turnId = await client.startTurn(await client.startThread(), "go");
    gate.open();
    await client.turnEnd(turnId);
    const statuses = client.eventsOf("thread/status/changed").map((event) => event.data.status);
    expect(statuses).toEqual([{ type: "active", activeFlags: [] }, { type: "idle" }]);
  });
});

describe("two turns at once", () => {
  test("reject the second of two simultaneous starts with the id of the first", async () => {
    const gate = new Gate();
    const client = testEngine({ scripts: [[{ wait: gate }]] }).connect();
    const threadId = await client.startThread();
    const start = () => client.call("turn/start", { threadId, input: text("go") });
    const [first, second] = await Promise.allSettled([start(), start()]);
    if (first.status !== "fulfilled" || second.status !== "rejected")
      throw new Error("one each was expected");
    const activeTurnId = first.value.turn?.id;
    expect(second.reason).toMatchObject({ kind: "turnInProgress", data: { activeTurnId } });
    expect(client.eventsOf("turn/started")).toHaveLength(1);
    gate.open();
    await client.waitFor("turn/completed");
  });

  test("do not overlap: the next may start as soon as the end of the one before was sent", async () => {
    const client = testEngine().connect();
    const threadId = await client.startThread();
    for (const word of ["one", "two", "three"]) {
      const turn = await client.runTurn(threadId, word);
      expect(turn.items.at(-1)).toMatchObject({ text: `You said: ${word}` });
    }
  });

  test("do not overlap if another client starts one from inside of the end of the last, and it can be interrupted", async () => {
    const gate = new Gate();
    const { engine, driver } = testEngine({ scripts: [[], [{ wait: gate }]] });
    let next: Promise<void> | undefined;
    const session = engine.connect({
      send: (event) => {
        if (event.type !== "turn/completed" || next !== undefined) return;
        next = session.call(
          "turn/start",
          { threadId: event.data.threadId, input: text("two") },
          () => undefined,
        );
      },
      isFull: () => false,
    });
    let threadId = "";
    await session.call("thread/start", {}, ({ thread }) => {
      threadId = thread.id;
    });
    await session.call("turn/start", { threadId, input: text("one") }, () => undefined);
    await gate.reached;
    await next;
    await session.call("turn/interrupt", { threadId }, () => undefined);
    await settled();
    expect(driver.turns.map((turn) => turn.outcome?.status)).toEqual(["completed", "interrupted"]);
  });

  verifies("P07", "in a hundred threads stream at once, and every delta arrives in order", async () => {
    const words = Array.from({ length: 50 }, (_, place) => `${place} `);
    const script = words.map((delta) => ({
      emit: { type: "item/agentMessage/delta", itemId: "m", delta } as const,
    }));
    const start = {
      emit: { type: "item/started", item: { type: "agentMessage", id: "m", text: "" } },
    } as const;
    const driver = new ScriptedDriver({ scripts: () => [start, ...script] });
    const server = testEngine({ driver });
    const clients = Array.from({ length: 100 }, () => server.connect());
    const texts = await Promise.all(
      clients.map(async (client) => {
        await client.runTurn(await client.startThread(), "go");
        return client
          .eventsOf("item/agentMessage/delta")
          .map((event) => event.data.delta)
          .join("");
      }),
    );
    expect(texts).toEqual(Array(100).fill(words.join("")));
  });
});

describe("interrupting a turn", () => {
  verifies("S0-38, S2-18, P12, S0-12", "stops the named turn at any moment", async () => {
    const gate = new Gate();
    const server = testEngine({ scripts: [[{ text: "working" }, { wait: gate }]] });
    const client = server.connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    await gate.reached;
    await client.call("turn/interrupt", { threadId, turnId });
    const turn = await client.turnEnd(turnId);
    expect(turn).toMatchObject({ status: "interrupted", itemsView: "full" });
    expect(turn.error).toBeUndefined();
    expect(server.driver.turns[0]?.signal.aborted).toBe(true);
    expect(client.order.indexOf("<- turn/interrupt")).toBeLessThan(client.order.indexOf("turn/completed"));
  });

  test("that was accepted and has not started yet keeps its agent from doing anything", async () => {
    const store = new UnreliableStore();
    const server = testEngine({ store, scripts: [[], [{ hang: true }]] });
    const client = server.connect();
    const threadId = await client.startThread();
    const disk = new Gate();
    store.syncWaits = () => disk.wait();
    await client.startTurn(threadId, "one");
    await disk.reached;
    // The end of the first turn waits for the disk, and everything that is sent waits behind it.
    const second = client.startTurn(threadId, "two");
    await settled();
    await client.call("turn/interrupt", { threadId });
    disk.open();
    expect((await client.turnEnd(await second)).status).toBe("interrupted");
    expect(server.driver.turns).toHaveLength(1);
    expect(client.order.filter((name) => name === "turn/completed")).toHaveLength(2);
  });

  test("that is not running is rejected, and the error says what is running", async () => {
    const gate = new Gate();
    const client = testEngine({ scripts: [[{ wait: gate }]] }).connect();
    const threadId = await client.startThread();
    await expect(client.call("turn/interrupt", { threadId })).rejects.toMatchObject({ kind: "notRunning" });
    const activeTurnId = await client.startTurn(threadId, "go");
    await expect(client.call("turn/interrupt", { threadId, turnId: "other" })).rejects.toMatchObject({
      kind: "notRunning",
      data: { activeTurnId },
    });
    await expect(client.call("turn/interrupt", { threadId: "unknown" })).rejects.toMatchObject({
      kind: "threadNotFound",
    });
    gate.open();
    await client.turnEnd(activeTurnId);
    await expect(client.call("turn/interrupt", { threadId })).rejects.toMatchObject({ kind: "notRunning" });
  });

  test("whose agent completes it all the same is completed", async () => {
    const gate = new Gate();
    const run = async (): Promise<TurnOutcome> => {
      await gate.wait();
      return { status: "completed" };
    };
    const client = testEngine({ driver: new BareDriver({ run }) }).connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    await gate.reached;
    await client.call("turn/interrupt", { threadId });
    gate.open();
    expect((await client.turnEnd(turnId)).status).toBe("completed");
  });

  test("twice is the same as once", async () => {
    const gate = new Gate();
    const client = testEngine({ scripts: [[{ wait: gate }]] }).connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    await Promise.all([
      client.call("turn/interrupt", { threadId }),
      client.call("turn/interrupt", { threadId }),
    ]);
    await client.turnEnd(turnId);
    await settled();
    expect(client.eventsOf("turn/completed")).toHaveLength(1);
  });
});

describe("the input of a turn", () => {
  verifies(
    "S2-84, S0-37, S0-30",
    "reaches the agent and the log, whatever its kind, with the output schema",
    async () => {
      const server = testEngine();
      const client = server.connect();
      const input: UserInput[] = [
        { type: "text", text: "look" },
        { type: "image", url: "https://example.test/a.png" },
        { type: "localImage", path: "/project/b.png" },
        { type: "skill", name: "review" },
        { type: "mention", name: "b", path: "/project/b.ts" },
      ];
      const outputSchema = { type: "object" };
      const threadId = await client.startThread();
      const { turn } = await client.call("turn/start", { threadId, input, outputSchema, clientId: "mine" });
      const ended = await client.turnEnd(turn?.id ?? "");
      expect(server.driver.turns[0]).toMatchObject({ input, outputSchema, kind: "prompt" });
      expect(ended.items[0]).toMatchObject({ type: "userMessage", content: input, clientId: "mine" });
    },
  );

  test("has its lone surrogates replaced before the agent sees it", async () => {
    const server = testEngine();
    const client = server.connect();
    await client.runTurn(await client.startThread(), "x\ud83d");
    expect(server.driver.turns[0]?.input).toEqual(text("x\ufffd"));
  });

  test("is rejected with the limit if it is too long", async () => {
    const client = testEngine().connect();
    const threadId = await client.startThread();
    const tooLong = "é".repeat(512 * 1024 + 1);
    await expect(client.startTurn(threadId, tooLong)).rejects.toMatchObject({
      kind: "invalidParams",
      data: { field: "input", limit: 1024 * 1024 },
    });
    expect(client.eventsOf("turn/started")).toEqual([]);
  });

  test("subscribes the client to the thread if it was not", async () => {
    const server = testEngine();
    const owner = server.connect();
    const other = server.connect();
    const threadId = await owner.startThread();
    const turn = await other.runTurn(threadId, "hi");
    expect(turn.status).toBe("completed");
    expect(other.order[0]).toBe("<- turn/start");
    expect(other.order[1]).toBe("turn/started");
  });
});
