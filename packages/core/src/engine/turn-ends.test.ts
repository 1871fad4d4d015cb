import type { TurnContext, TurnOutcome } from "@flint/core/ports";
import { FlintError, type Turn, type TurnStatus } from "@flint/protocol";
import {
  BareDriver,
  Gate,
  type Script,
  ScriptedDriver,
  settled,
  type TestClient,
  type TestEngine,
  testEngine,
  UnreliableStore,
  verifies,
} from "@flint/testkit";
import { describe, expect, test } from "vitest";

const COMPLETED: TurnOutcome = { status: "completed" };
const forever = () => new Promise<never>(() => undefined);

/** Starts a turn, lets the test act on it, and returns its end, which must be sent and stored once. */
async function endOf(
  server: TestEngine,
  meanwhile: (client: TestClient, threadId: string) => Promise<void> = async () => undefined,
): Promise<Turn> {
  const client = server.connect();
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  await meanwhile(client, threadId);
  const ended = await client.turnEnd(turnId);
  await server.clock.advance(60_000);
  expect(client.eventsOf("turn/completed")).toHaveLength(1);
  const { events } = await client.call("thread/events/list", { threadId });
  expect(events.filter((event) => event.type === "turn/completed")).toHaveLength(1);
  expect((await client.call("thread/read", { threadId })).thread.status.type).toBe("idle");
  return ended;
}

/** Runs another turn and returns its status. */
async function nextTurn(server: TestEngine): Promise<TurnStatus> {
  const client = server.connect();
  const { data } = await client.call("thread/list", {});
  return (await client.runTurn(data[0]?.id ?? "", "and now?")).status;
}

describe("every turn ends exactly once", () => {
  test("when its agent is done", async () => {
    const server = testEngine();
    expect((await endOf(server)).status).toBe("completed");
    expect(await nextTurn(server)).toBe("completed");
  });

  verifies("S0-84, S2-87", "when its agent reports a failure, with the reason as it was given", async () => {
    const error = {
      message: "Too much.",
      errorInfo: "ContextWindowExceeded",
      httpStatusCode: 400,
      additionalDetails: "8192 of 4096",
    };
    const server = testEngine({ scripts: [[{ fail: error }], []] });
    expect(await endOf(server)).toMatchObject({ status: "failed", error });
    expect(await nextTurn(server)).toBe("completed");
    expect(server.driver.sessions).toHaveLength(1);
  });

  test("when its agent rejects, and the next turn gets a new session", async () => {
    const server = testEngine({ scripts: [[{ throws: new Error("lost the thread") }], []] });
    const error = { message: "The agent failed: lost the thread", errorInfo: "AgentFailed" };
    expect(await endOf(server)).toMatchObject({ status: "failed", error });
    expect(server.driver.sessions[0]?.closes).toBe(1);
    expect(await nextTurn(server)).toBe("completed");
    expect(server.driver.sessions).toHaveLength(2);
  });

  test("when its agent throws before it returns a promise", async () => {
    const server = testEngine({
      driver: new BareDriver({
        run: () => {
          throw new FlintError("sandboxUnavailable", "No sandbox here.");
        },
      }),
    });
    const error = { message: "No sandbox here.", errorInfo: "SandboxError" };
    expect(await endOf(server)).toMatchObject({ status: "failed", error });
  });

  test("when its agent cannot be opened, and the next turn tries again", async () => {
    const openFails = new FlintError("agentFailed", "Install it with npm.");
    const failing = testEngine({ driver: new ScriptedDriver({ openFails }) });
    expect(await endOf(failing)).toMatchObject({
      status: "failed",
      error: { message: "Install it with npm.", errorInfo: "AgentFailed" },
    });
    let tries = 0;
    const openWaits = async () => {
      tries += 1;
      if (tries === 1) throw new Error("not yet");
    };
    const server = testEngine({ driver: new ScriptedDriver({ openWaits }) });
    expect((await endOf(server)).status).toBe("failed");
    expect(await nextTurn(server)).toBe("completed");
  });

  test("when its agent dies during the turn, and what was open is closed", async () => {
    const script: Script = [
      { emit: { type: "item/started", item: { type: "agentMessage", id: "m", text: "" } } },
      { emit: { type: "item/agentMessage/delta", itemId: "m", delta: "I was ab" } },
      {
        emit: {
          type: "item/started",
          item: { type: "commandExecution", id: "c", command: "make", cwd: "/code", status: "inProgress" },
        },
      },
      { die: true },
    ];
    const driver = new ScriptedDriver({ scripts: [script, []], staysDead: true });
    const server = testEngine({ driver });
    const turn = await endOf(server);
    expect(turn).toMatchObject({ status: "failed", error: { errorInfo: "AgentFailed" } });
    expect(turn.items.slice(1)).toEqual([
      { type: "agentMessage", id: "m", text: "I was ab", partial: true },
      { type: "commandExecution", id: "c", command: "make", cwd: "/code", status: "failed" },
    ]);
    expect(await nextTurn(server)).toBe("completed");
  });

  test("when the thread's model belongs to an agent that this server does not have", async () => {
    const store = new UnreliableStore();
    const other = testEngine({ store, driver: new ScriptedDriver({ id: "elsewhere" }) });
    const threadId = await other.connect().startThread();
    await other.close();
    const client = testEngine({ store }).connect();
    const turn = await client.runTurn(threadId, "go");
    expect(turn).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining('"elsewhere"') },
    });
  });

  test("when it is interrupted while its agent starts, without waiting for that", async () => {
    const starting = new Gate();
    const driver = new ScriptedDriver({ openWaits: () => starting.wait() });
    const server = testEngine({ driver });
    const turn = await endOf(server, async (client, threadId) => {
      await starting.reached;
      await client.call("turn/interrupt", { threadId });
    });
    expect(turn.status).toBe("interrupted");
    starting.open();
    expect(await nextTurn(server)).toBe("completed");
    expect(driver.sessions).toHaveLength(1);
  });

  test("when it is interrupted while its agent starts, and that fails later", async () => {
    const starting = new Gate();
    let tries = 0;
    const openWaits = async () => {
      tries += 1;
      if (tries > 1) return;
      await starting.wait();
      throw new Error("not after all");
    };
    const server = testEngine({ driver: new ScriptedDriver({ openWaits }) });
    const turn = await endOf(server, async (client, threadId) => {
      await starting.reached;
      await client.call("turn/interrupt", { threadId });
    });
    expect(turn.status).toBe("interrupted");
    starting.open();
    await settled();
    expect(await nextTurn(server)).toBe("completed");
  });

  test("when its agent ignores the interrupt: its session is closed after a while", async () => {
    const deaf = new Gate();
    const server = testEngine({
      scripts: [[{ wait: deaf, ignoresInterrupt: true }, { text: "too late" }], []],
    });
    const turn = await endOf(server, async (client, threadId) => {
      await deaf.reached;
      await client.call("turn/interrupt", { threadId });
      await server.clock.advance(2_900);
      expect(client.eventsOf("turn/completed")).toEqual([]);
      await server.clock.advance(200);
    });
    expect(turn.status).toBe("interrupted");
    expect(server.driver.sessions[0]?.closes).toBe(1);
    deaf.open();
    expect(await nextTurn(server)).toBe("completed");
  });

  test("when its agent ignores the interrupt and cannot be closed", async () => {
    const server = testEngine({ driver: new BareDriver({ run: forever, close: forever }) });
    const turn = await endOf(server, async (client, threadId) => {
      await client.call("turn/interrupt", { threadId });
      await server.clock.advance(10_000);
    });
    expect(turn.status).toBe("interrupted");
  });

  test("when its agent rejects because it was interrupted", async () => {
    const run = (turn: TurnContext) =>
      new Promise<TurnOutcome>((_, reject) => {
        turn.signal.addEventListener("abort", () => reject(new Error("aborted")));
      });
    const server = testEngine({ driver: new BareDriver({ run }) });
    const turn = await endOf(server, async (client, threadId) => {
      await settled();
      await client.call("turn/interrupt", { threadId });
    });
    expect(turn).toMatchObject({ status: "interrupted" });
    expect(turn.error).toBeUndefined();
  });

  test("as completed when it completes although it was interrupted", async () => {
    const run = (turn: TurnContext) =>
      new Promise<TurnOutcome>((resolve) => {
        turn.signal.addEventListener("abort", () => resolve(COMPLETED));
      });
    const server = testEngine({ driver: new BareDriver({ run }) });
    const turn = await endOf(server, async (client, threadId) => {
      await settled();
      await client.call("turn/interrupt", { threadId });
    });
    expect(turn.status).toBe("completed");
  });

  test("when the server stops during the turn", async () => {
    const gate = new Gate();
    const store = new UnreliableStore();
    const server = testEngine({ store, scripts: [[{ text: "half" }, { wait: gate }]] });
    const client = server.connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    await gate.reached;
    await server.close();
    expect(await client.turnEnd(turnId)).toMatchObject({
      status: "interrupted",
      error: { errorInfo: "ServerStopped" },
    });
    const later = testEngine({ store }).connect();
    const { events } = await later.call("thread/events/list", { threadId });
    expect(events.filter((event) => event.type === "turn/completed")).toHaveLength(1);
    expect(server.driver.sessions[0]?.closes).toBe(1);
  });
});

describe("after its end a turn", () => {
  test("leaves no timer behind", async () => {
    const gate = new Gate();
    const server = testEngine({ scripts: [[{ text: "hi" }, { wait: gate }], []] });
    const client = server.connect();
    const threadId = await client.startThread();
    const before = server.clock.pending;
    const turnId = await client.startTurn(threadId, "go");
    await gate.reached;
    await client.call("turn/interrupt", { threadId });
    await client.turnEnd(turnId);
    await client.runTurn(threadId, "again");
    await settled();
    expect(server.clock.pending).toBe(before);
  });

  test("ignores what its agent still reports", async () => {
    const later = new Gate();
    const late = { type: "item/started", item: { type: "agentMessage", id: "late", text: "" } } as const;
    const piece = { type: "item/agentMessage/delta", itemId: "late", delta: "psst" } as const;
    const script: Script = [{ afterEnd: late }, { afterEnd: piece }, { afterEnd: late, when: later }];
    const server = testEngine({ scripts: [script] });
    const client = server.connect();
    const turn = await client.runTurn(await client.startThread(), "go");
    later.open();
    await server.clock.advance(1_000);
    expect(turn.items).toHaveLength(1);
    expect(client.order.at(-1)).toBe("thread/status/changed");
    expect(JSON.stringify(client.events)).not.toContain("late");
  });

  test("does not ask, and does not allow, what its agent still requests", async () => {
    const answers: unknown[] = [];
    const asked = new Gate();
    const run = async (turn: TurnContext): Promise<TurnOutcome> => {
      void settled().then(async () => {
        answers.push(await turn.approve({ kind: "command", itemId: "x", command: "rm -r /", cwd: "/" }));
        answers.push(await turn.ask("x", [{ id: "q", question: "Sure?" }]));
        asked.open();
      });
      return COMPLETED;
    };
    const server = testEngine({ driver: new BareDriver({ run }) });
    const client = server.connect();
    await client.runTurn(await client.startThread(), "go");
    await asked.opened;
    expect(answers).toEqual([{ outcome: "cancel", scope: "once", message: "The turn has ended." }, {}]);
    expect(client.eventsOf("approval/requested")).toEqual([]);
  });

  test("releases an agent that waits for the log", async () => {
    const run = async (turn: TurnContext): Promise<TurnOutcome> => {
      for (let count = 0; count < 3; count += 1) await turn.ready();
      return COMPLETED;
    };
    expect((await endOf(testEngine({ driver: new BareDriver({ run }) }))).status).toBe("completed");
  });
});
