import type { TurnOutcome } from "@flint/core/ports";
import type { QueuedInput, UserInput } from "@flint/protocol";
import {
  BareDriver,
  Gate,
  type ScriptChoice,
  ScriptedDriver,
  settled,
  type TestClient,
  testEngine,
  UnreliableStore,
  verifies,
} from "@flint/testkit";
import { describe, expect, test } from "vitest";

const text = (value: string): UserInput[] => [{ type: "text", text: value }];

/** An agent that waits at its gate in the first turn and repeats its input in the others. */
function busy(scripts?: ScriptChoice, steering: "accepts" | "refuses" | "absent" = "accepts") {
  const gate = new Gate();
  const choice: ScriptChoice = (said) =>
    said === "first" ? [{ wait: gate }] : [{ text: `You said: ${said}` }];
  const driver = new ScriptedDriver({ scripts: scripts ?? choice, steering });
  return { gate, driver };
}

async function send(
  client: TestClient,
  threadId: string,
  words: string,
  delivery: "queue" | "steer" = "queue",
) {
  return client.call("turn/start", { threadId, input: text(words), delivery });
}

/** A thread whose first turn runs, with these inputs in its queue. */
async function waiting(inputs: readonly string[], steering: "accepts" | "refuses" | "absent" = "accepts") {
  const { gate, driver } = busy(undefined, steering);
  const store = new UnreliableStore();
  const server = testEngine({ driver, store });
  const client = server.connect();
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "first");
  await gate.reached;
  const queued: QueuedInput[] = [];
  for (const input of inputs) {
    const { queuedInput } = await send(client, threadId, input);
    if (queuedInput !== undefined) queued.push(queuedInput);
  }
  return {
    server,
    store,
    gate,
    driver,
    client,
    threadId,
    turnId,
    queued,
    ids: queued.map((input) => input.id),
  };
}

const words = (queue: readonly QueuedInput[]) =>
  queue.map((input) => Reflect.get(input.input[0] ?? {}, "text"));

async function prompts(client: TestClient, count: number): Promise<string[]> {
  await client.waitFor("turn/completed", () => client.eventsOf("turn/completed").length >= count);
  await settled();
  return client
    .eventsOf("item/completed")
    .flatMap(({ data: { item } }) => (item.type === "userMessage" && "content" in item ? item.content : []))
    .map((piece) => String(Reflect.get(piece, "text")));
}

describe("input during a running turn", () => {
  test("is rejected unless its delivery says otherwise", async () => {
    const { client, threadId, turnId } = await waiting([]);
    await expect(client.startTurn(threadId, "me too")).rejects.toMatchObject({
      kind: "turnInProgress",
      data: { activeTurnId: turnId },
    });
    await expect(client.startTurn(threadId, "me too", { delivery: "reject" })).rejects.toMatchObject({
      kind: "turnInProgress",
    });
  });

  test("is queued, and runs as its own turn after the running one completes", async () => {
    const { client, threadId, gate, driver } = await waiting(["second", "third"]);
    expect(client.eventsOf("thread/queue/changed").map((event) => words(event.data.queue))).toEqual([
      ["second"],
      ["second", "third"],
    ]);
    expect(words((await client.call("thread/queue/list", { threadId })).queue)).toEqual(["second", "third"]);
    gate.open();
    expect(await prompts(client, 3)).toEqual(["first", "second", "third"]);
    expect(driver.turns.map((turn) => turn.outcome?.status)).toEqual(["completed", "completed", "completed"]);
    expect((await client.call("thread/queue/list", { threadId })).queue).toEqual([]);
    const second = client.order.lastIndexOf("thread/queue/changed");
    expect(client.order.slice(second, second + 2)).toEqual(["thread/queue/changed", "turn/started"]);
  });

  test("goes into the running turn, as a message of it, if its agent accepts it", async () => {
    const { client, threadId, turnId, gate, driver } = await waiting([]);
    const { turn, queuedInput } = await send(client, threadId, "also this", "steer");
    expect([turn?.id, turn?.status, queuedInput]).toEqual([turnId, "inProgress", undefined]);
    expect(client.order.at(-3)).toBe("<- turn/start");
    expect(driver.turns[0]?.steers).toEqual([text("also this")]);
    gate.open();
    const ended = await client.turnEnd(turnId);
    expect(ended.items.map((item) => item.type)).toEqual(["userMessage", "userMessage"]);
    expect(client.eventsOf("turn/started")).toHaveLength(1);
  });

  test.each(["refuses", "absent"] as const)(
    "is queued if it was to steer the turn and the agent %s",
    async (steering) => {
      const { client, threadId, gate } = await waiting([], steering);
      const { queuedInput, turn } = await send(client, threadId, "also this", "steer");
      expect([words(queuedInput === undefined ? [] : [queuedInput]), turn]).toEqual([
        ["also this"],
        undefined,
      ]);
      gate.open();
      expect(await prompts(client, 2)).toEqual(["first", "also this"]);
    },
  );

  test("starts a turn as usual when none is running, whatever its delivery", async () => {
    const client = testEngine().connect();
    const threadId = await client.startThread();
    for (const delivery of ["queue", "steer"] as const) {
      const { turn } = await send(client, threadId, "hi", delivery);
      expect((await client.turnEnd(turn?.id ?? "")).status).toBe("completed");
    }
  });

  test("may change the settings for what comes next", async () => {
    const { client, threadId, gate, driver } = await waiting([]);
    await client.call("turn/start", {
      threadId,
      input: text("second"),
      delivery: "queue",
      model: "scripted/swift",
    });
    gate.open();
    await prompts(client, 2);
    expect(driver.turns.map((turn) => turn.settings.model)).toEqual(["scripted/steady", "scripted/swift"]);
  });

  test("is rejected with an output schema, and says what to do instead", async () => {
    const { client, threadId } = await waiting([]);
    const requested = { threadId, input: text("x"), outputSchema: {}, delivery: "queue" } as const;
    await expect(client.call("turn/start", requested)).rejects.toMatchObject({
      kind: "invalidParams",
      data: { field: "outputSchema" },
    });
  });

  test("is rejected when a hundred others are queued already", async () => {
    const { client, threadId } = await waiting(Array.from({ length: 100 }, (_, count) => `input ${count}`));
    await expect(send(client, threadId, "one more")).rejects.toMatchObject({
      kind: "overloaded",
      data: { limit: 100 },
    });
  });
});

describe("turn/steer", () => {
  verifies("S2-17", "adds input to the running turn if it is the expected one", async () => {
    const { client, threadId, turnId, gate, driver } = await waiting([]);
    await expect(
      client.call("turn/steer", { threadId, input: text("x"), expectedTurnId: "other" }),
    ).rejects.toMatchObject({ kind: "notRunning", data: { activeTurnId: turnId } });
    const result = await client.call("turn/steer", { threadId, input: text("more"), expectedTurnId: turnId });
    expect(result).toEqual({ turnId });
    expect(driver.turns[0]?.steers).toEqual([text("more")]);
    gate.open();
    await client.turnEnd(turnId);
    await expect(client.call("turn/steer", { threadId, input: text("x") })).rejects.toMatchObject({
      kind: "notRunning",
    });
  });

  test("is rejected when the agent accepts no input", async () => {
    const { client, threadId, turnId } = await waiting([], "refuses");
    await expect(client.call("turn/steer", { threadId, input: text("x") })).rejects.toMatchObject({
      kind: "unsupported",
      data: { activeTurnId: turnId },
      message: expect.stringContaining('"queue"'),
    });
  });

  test("waits for an agent that is still starting, but no longer than its turn lasts", async () => {
    const starts = [new Gate(), new Gate()];
    let tries = 0;
    const openWaits = async () => starts[tries++]?.wait();
    const driver = new ScriptedDriver({ openWaits, scripts: [[{ untilSteered: true }]] });
    const client = testEngine({ driver }).connect();
    const threadId = await client.startThread();
    const first = await client.startTurn(threadId, "go");
    await starts[0]?.reached;
    const steering = client.call("turn/steer", { threadId, input: text("more") });
    await settled();
    starts[0]?.open();
    expect(await steering).toEqual({ turnId: first });
    expect((await client.turnEnd(first)).items).toHaveLength(2);

    const other = await client.startThread();
    const second = await client.startTurn(other, "go");
    await starts[1]?.reached;
    const tooLate = client.call("turn/steer", { threadId: other, input: text("more") });
    const refused = expect(tooLate).rejects.toMatchObject({ kind: "unsupported" });
    await settled();
    await client.call("turn/interrupt", { threadId: other });
    await refused;
    expect((await client.turnEnd(second)).status).toBe("interrupted");
  });

  test("shows input that ends the turn as a part of it, before its end", async () => {
    const driver = new ScriptedDriver({ scripts: [[{ untilSteered: true }]] });
    const client = testEngine({ driver }).connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    await settled();
    await client.call("turn/steer", { threadId, input: text("that is all") });
    const turn = await client.turnEnd(turnId);
    expect(turn.items.map((item) => item.type)).toEqual(["userMessage", "userMessage"]);
    expect(client.order.slice(-5)).toEqual([
      "<- turn/steer",
      "item/started",
      "item/completed",
      "turn/completed",
      "thread/status/changed",
    ]);
  });

  test("shows input that its agent accepts while it is ending before the end, too", async () => {
    let end: (outcome: TurnOutcome) => void = () => undefined;
    const driver = new BareDriver({
      run: () =>
        new Promise((resolve) => {
          end = resolve;
        }),
      steer: async () => {
        end({ status: "completed" });
        return true;
      },
    });
    const client = testEngine({ driver }).connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    await settled();
    await client.call("turn/steer", { threadId, input: text("that is all") });
    const turn = await client.turnEnd(turnId);
    expect(turn.items.map((item) => item.type)).toEqual(["userMessage", "userMessage"]);
  });

  test("does not keep the turn from ending if the agent never reports whether it accepted the input", async () => {
    const driver = new BareDriver({
      run: async (turn) => {
        while (!turn.signal.aborted) await turn.ready();
        return { status: "interrupted" };
      },
      steer: () => new Promise(() => undefined),
    });
    const client = testEngine({ driver }).connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    await settled();
    const steering = client.call("turn/steer", { threadId, input: text("hello?") });
    const refused = expect(steering).rejects.toMatchObject({ kind: "unsupported" });
    await settled();
    await client.call("turn/interrupt", { threadId });
    expect((await client.turnEnd(turnId)).status).toBe("interrupted");
    await refused;
  });

  test("names the agent as the reason if it fails", async () => {
    const gate = new Gate();
    const driver = new BareDriver({
      run: async () => {
        await gate.wait();
        return { status: "completed" };
      },
      steer: async () => {
        throw new Error("ouch");
      },
    });
    const client = testEngine({ driver }).connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    await gate.reached;
    await expect(client.call("turn/steer", { threadId, input: text("x") })).rejects.toMatchObject({
      kind: "agentFailed",
      message: "The agent failed: ouch",
    });
    gate.open();
    expect((await client.turnEnd(turnId)).status).toBe("completed");
  });

  test("rejects input that cannot be stored, and the turn fails", async () => {
    const { client, threadId, turnId, store } = await waiting([]);
    store.refuses = (bodies) => bodies.some((body) => body.type === "item/started");
    await expect(client.call("turn/steer", { threadId, input: text("x") })).rejects.toMatchObject({
      kind: "storageFailed",
    });
    expect((await client.turnEnd(turnId)).error?.errorInfo).toBe("StorageFailed");
  });
});

describe("the queue", () => {
  test("can be changed, reordered and emptied while it waits", async () => {
    const { client, threadId, ids, gate } = await waiting(["a", "b", "c"]);
    const [a = "", b = "", c = ""] = ids;
    const queueIds = { threadId, queuedInputIds: [c, a, b] };
    expect(words((await client.call("thread/queue/reorder", queueIds)).queue)).toEqual(["c", "a", "b"]);
    const update = { threadId, queuedInputId: a, input: text("A") };
    expect(words((await client.call("thread/queue/update", update)).queue)).toEqual(["c", "A", "b"]);
    expect(words((await client.call("thread/queue/delete", { threadId, queuedInputId: c })).queue)).toEqual([
      "A",
      "b",
    ]);
    expect(client.order.slice(-2)).toEqual(["<- thread/queue/delete", "thread/queue/changed"]);
    gate.open();
    expect(await prompts(client, 3)).toEqual(["first", "A", "b"]);
  });

  test("rejects unknown inputs and an incomplete order", async () => {
    const { client, threadId, ids } = await waiting(["a", "b"]);
    const [a = ""] = ids;
    for (const method of ["thread/queue/delete", "thread/queue/promote"] as const) {
      await expect(client.call(method, { threadId, queuedInputId: "gone" })).rejects.toMatchObject({
        kind: "queuedInputNotFound",
        data: { queuedInputIds: ids },
      });
    }
    for (const queuedInputIds of [[a], [a, a], [a, "gone"], [...ids, "gone"]]) {
      await expect(client.call("thread/queue/reorder", { threadId, queuedInputIds })).rejects.toThrow();
    }
    expect(words((await client.call("thread/queue/list", { threadId })).queue)).toEqual(["a", "b"]);
  });

  test("sends a promoted input to the running turn", async () => {
    const { client, threadId, ids, turnId, driver, gate } = await waiting(["a", "b"]);
    const result = await client.call("thread/queue/promote", { threadId, queuedInputId: ids[1] ?? "" });
    expect([result.turnId, words(result.queue)]).toEqual([turnId, ["a"]]);
    expect(driver.turns[0]?.steers).toEqual([text("b")]);
    gate.open();
    expect(await prompts(client, 2)).toEqual(["first", "b", "a"]);
  });

  test("keeps an input that the running turn does not accept", async () => {
    const { client, threadId, ids } = await waiting(["a"], "refuses");
    await expect(
      client.call("thread/queue/promote", { threadId, queuedInputId: ids[0] ?? "" }),
    ).rejects.toMatchObject({ kind: "unsupported" });
    expect(words((await client.call("thread/queue/list", { threadId })).queue)).toEqual(["a"]);
  });

  test("pauses after an interrupt; then a promoted input starts, and the rest follows", async () => {
    const { client, threadId, turnId, ids, driver } = await waiting(["a", "b", "c"]);
    await client.call("turn/interrupt", { threadId });
    await client.turnEnd(turnId);
    await settled();
    expect(driver.turns).toHaveLength(1);
    const { queue } = await client.call("thread/queue/promote", { threadId, queuedInputId: ids[1] ?? "" });
    expect(words(queue)).toEqual(["a", "c"]);
    expect(await prompts(client, 4)).toEqual(["first", "b", "a", "c"]);
  });

  test("pauses after a failure, and continues after the next completed turn", async () => {
    const { gate, driver } = busy((said) =>
      said === "first" ? [{ wait: gate }, { fail: { message: "no" } }] : [{ text: said }],
    );
    const client = testEngine({ driver }).connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "first");
    await send(client, threadId, "second");
    gate.open();
    await client.turnEnd(turnId);
    await settled();
    expect(driver.turns).toHaveLength(1);
    await client.startTurn(threadId, "look here");
    expect(await prompts(client, 3)).toEqual(["first", "look here", "second"]);
  });

  test("survives a restart, and then waits for the user", async () => {
    const { server, client, threadId, store, queued } = await waiting(["a", "b"]);
    await server.close();
    expect(client.eventsOf("turn/started")).toHaveLength(1);
    const { driver } = busy();
    const later = testEngine({ store, driver }).connect();
    expect((await later.call("thread/attach", { threadId })).queue).toEqual(queued);
    await settled();
    expect(driver.turns).toEqual([]);
    await later.call("thread/queue/promote", { threadId, queuedInputId: queued[0]?.id ?? "" });
    expect(await prompts(later, 2)).toEqual(["a", "b"]);
  });

  test("keeps an input whose turn cannot be stored", async () => {
    const { client, threadId, turnId, gate, store } = await waiting(["a"]);
    store.refuses = (bodies) => bodies.some((body) => body.type === "turn/started");
    gate.open();
    await client.turnEnd(turnId);
    await settled();
    expect(words((await client.call("thread/queue/list", { threadId })).queue)).toEqual(["a"]);
  });
});
