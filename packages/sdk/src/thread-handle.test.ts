import { afterEach, describe, expect, test } from "vitest";
import type { AgentEvent } from "./agent-event.ts";
import { connect } from "./connect.ts";
import { FlintConnectionError, FlintRequestError, TurnFailedError } from "./errors.ts";
import type { FlintClient } from "./flint-client.ts";
import {
  aThread,
  aTurn,
  FakeServer,
  FakeThread,
  NO_ANSWER,
  Refusal,
  SETTINGS,
} from "./testing/fake-server.ts";
import type { ThreadHandle } from "./thread-handle.ts";
import type { Warning } from "./warning.ts";

const usage = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });

let client: FlintClient | undefined;
afterEach(() => client?.close());

type Scene = { server: FakeServer; fake: FakeThread; thread: ThreadHandle; warnings: Warning[] };

/** A started thread. `play` says what happens after each `turn/start`, before the client can see its answer. */
async function scene(play: (fake: FakeThread, turnId: string) => void = () => {}): Promise<Scene> {
  const server = new FakeServer();
  const fake = new FakeThread(server, "thread-1");
  const warnings: Warning[] = [];
  let turns = 0;
  server.answer("model/list", () => ({ data: [] }));
  server.answer("thread/start", () => {
    queueMicrotask(() => fake.started());
    return { thread: aThread("thread-1"), modelProvider: "test" };
  });
  server.answer("turn/start", () => {
    turns += 1;
    const turnId = `turn-${turns}`;
    queueMicrotask(() => play(fake, turnId));
    return { turn: aTurn(turnId) };
  });
  client = await connect({ transport: server.transport, onWarning: (warning) => warnings.push(warning) });
  const thread = await client.startThread({ cwd: "/work" });
  return { server, fake, thread, warnings };
}

function paramsOf(server: FakeServer, method: string): unknown[] {
  return server.received.filter((message) => message.method === method).map(({ params }) => params);
}

describe("run", () => {
  test("resolves with the last text, the items and the usage once turn/completed came [S4-20]", async () => {
    const { server, thread } = await scene((fake, turnId) => {
      fake.turnStarted(turnId);
      fake.said(turnId, "m1", "Let me look.");
      fake.stored("thread/tokenUsage/updated", { turnId, usage: usage(110, 12), last: usage(10, 2) });
      const item = { type: "commandExecution", id: "c1", command: "ls", cwd: "/work", status: "completed" };
      fake.stored("item/completed", { turnId, item: { ...item, exitCode: 0 } });
      fake.said(turnId, "m2", "There are two files.");
      fake.stored("thread/tokenUsage/updated", { turnId, usage: usage(115, 15), last: usage(5, 3) });
      fake.turnCompleted(turnId);
    });
    const result = await thread.run("what is in this folder?", {
      model: "test/other",
      config: { effort: "low" },
    });
    expect(result).toMatchObject({ status: "completed", text: "There are two files.", usage: usage(15, 5) });
    expect(result.items.map((item) => item.id)).toEqual(["m1", "c1", "m2"]);
    expect(result.turn).toMatchObject({ id: "turn-1", status: "completed" });
    expect(paramsOf(server, "turn/start")).toEqual([
      {
        threadId: "thread-1",
        input: [{ type: "text", text: "what is in this folder?" }],
        model: "test/other",
        config: { effort: "low" },
      },
    ]);
  });

  test("is ended by nothing but turn/completed of its own turn [S4-20]", async () => {
    const { fake, thread } = await scene((played, turnId) => {
      played.turnStarted(turnId);
      played.said(turnId, "m1", "almost");
      played.stored("error", { turnId, error: { message: "slow down" }, willRetry: true });
      played.live("thread/status/changed", { status: { type: "idle" } });
      played.turnCompleted("turn-of-somebody-else");
    });
    let settled = false;
    const running = thread.run("go").finally(() => {
      settled = true;
    });
    await client?.models();
    fake.turnStarted("turn-of-somebody-else");
    fake.turnCompleted("turn-of-somebody-else");
    await client?.models();
    expect(settled).toBe(false);
    fake.turnCompleted("turn-1");
    expect((await running).text).toBe("almost");
  });

  test("rejects with the turn when the turn fails, unless that is allowed", async () => {
    const { thread } = await scene((fake, turnId) => {
      fake.turnStarted(turnId);
      fake.said(turnId, `${turnId}-m`, "I tried");
      fake.turnCompleted(turnId, { status: "failed", error: { message: "The model is gone." } });
    });
    const error = await thread.run("go").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TurnFailedError);
    expect(error).toMatchObject({
      kind: "turn",
      message: "The model is gone.",
      threadId: "thread-1",
      turn: { id: "turn-1", status: "failed" },
    });
    const allowed = await thread.run("go", { allowFailure: true });
    expect(allowed).toMatchObject({ status: "failed", text: "I tried" });
    expect(allowed.turn.error?.message).toBe("The model is gone.");
  });

  test("rejects when the turn is refused", async () => {
    const { server, thread } = await scene();
    server.answer("turn/start", () => {
      throw new Refusal("turnInProgress", "turn-0 runs", {
        reason: "turnInProgress",
        activeTurnId: "turn-0",
      });
    });
    const error = await thread.run("go").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FlintRequestError);
    expect(error).toMatchObject({ kind: "turnInProgress", data: { activeTurnId: "turn-0" } });
  });

  test("rejects at once when the connection is lost in the middle", async () => {
    const { server, thread } = await scene((fake, turnId) => fake.turnStarted(turnId));
    const running = thread.run("go");
    const refused = expect(running).rejects.toBeInstanceOf(FlintConnectionError);
    await server.next("turn/start");
    await client?.models();
    server.close();
    await refused;
    await expect(thread.run("again")).rejects.toHaveProperty("kind", "closed");
  });

  test("tells its events at once, and a fault of the listener does no harm", async () => {
    const { thread, warnings } = await scene((fake, turnId) => fake.wholeTurn(turnId, "done"));
    const types: string[] = [];
    const onEvent = (event: AgentEvent) => {
      types.push(event.type);
      if (event.type === "turn/completed") throw new Error("my bug");
    };
    expect((await thread.run("go", { onEvent })).text).toBe("done");
    expect(types).toEqual([
      "turn/started",
      "item/started",
      "item/agentMessage/delta",
      "item/completed",
      "turn/completed",
    ]);
    expect(warnings).toMatchObject([{ kind: "handlerFailed" }]);
  });

  test("sends pieces of input as they are", async () => {
    const { server, thread } = await scene((fake, turnId) => fake.wholeTurn(turnId, "a cat"));
    await thread.run([
      { type: "text", text: "what is this?" },
      { type: "localImage", path: "/work/cat.png" },
    ]);
    expect(paramsOf(server, "turn/start")).toMatchObject([
      { input: [{ type: "text" }, { type: "localImage" }] },
    ]);
  });

  test("does not take the turns of a replay for its own", async () => {
    const { fake, server, thread } = await scene((played, turnId) => played.wholeTurn(turnId, "the answer"));
    server.answer("turn/start", () => {
      // A history that arrives while the request is under way, and the own turn before the answer is seen.
      for (let old = 1; old <= 6; old += 1) fake.wholeTurn(`old-${old}`, `old answer ${old}`);
      queueMicrotask(() => fake.wholeTurn("turn-1", "the answer"));
      return { turn: aTurn("turn-1") };
    });
    const turnIds = new Set<unknown>();
    const onEvent = (event: AgentEvent) => {
      if (event.type === "item/completed") turnIds.add(event.data.turnId);
    };
    expect((await thread.run("go", { onEvent })).text).toBe("the answer");
    expect([...turnIds]).toEqual(["turn-1"]);
  });
});

describe("a signal", () => {
  test("interrupts the turn, which then ends as interrupted with what there is", async () => {
    const { server, fake, thread } = await scene((played, turnId) => {
      played.turnStarted(turnId);
      played.said(turnId, "m", "half of the");
    });
    server.answer("turn/interrupt", () => {
      queueMicrotask(() => fake.turnCompleted("turn-1", { status: "interrupted" }));
      return {};
    });
    const controller = new AbortController();
    const running = thread.run("go", { signal: controller.signal });
    await client?.models();
    await client?.models();
    controller.abort();
    expect(await running).toMatchObject({ status: "interrupted", text: "half of the" });
    expect(paramsOf(server, "turn/interrupt")).toEqual([{ threadId: "thread-1", turnId: "turn-1" }]);
  });

  test("that fires before the turn starts nothing", async () => {
    const { server, thread } = await scene();
    const signal = AbortSignal.abort(new Error("too late"));
    await expect(thread.run("go", { signal })).rejects.toThrow("too late");
    await client?.models();
    expect(server.count("turn/start")).toBe(0);
  });

  test("that fires while the turn is being asked for interrupts it as soon as it has a name", async () => {
    const { server, fake, thread } = await scene();
    const controller = new AbortController();
    server.answer("turn/start", () => {
      controller.abort();
      return { turn: aTurn("turn-1") };
    });
    server.answer("turn/interrupt", () => {
      fake.turnStarted("turn-1");
      fake.turnCompleted("turn-1", { status: "interrupted" });
      return {};
    });
    expect(await thread.run("go", { signal: controller.signal })).toHaveProperty("status", "interrupted");
  });

  test("settles even if the server never ends the turn", async () => {
    const { server, thread } = await scene((fake, turnId) => fake.turnStarted(turnId));
    server.answer("turn/interrupt", () => ({}));
    const controller = new AbortController();
    const running = thread.run("go", { signal: controller.signal, interruptMs: 5 });
    const late = expect(running).rejects.toMatchObject({ kind: "timedOut" });
    await client?.models();
    controller.abort();
    await late;
  });

  test("that comes too late does no harm", async () => {
    const { server, fake, thread } = await scene((played, turnId) => played.turnStarted(turnId));
    server.answer("turn/interrupt", () => {
      queueMicrotask(() => fake.turnCompleted("turn-1"));
      throw new Refusal("notRunning", "No turn runs.");
    });
    const controller = new AbortController();
    const running = thread.run("go", { signal: controller.signal });
    await client?.models();
    controller.abort();
    expect(await running).toHaveProperty("status", "completed");
  });
});

describe("stream", () => {
  test("gives the events of the turn and ends after turn/completed", async () => {
    const { thread } = await scene((fake, turnId) => {
      fake.turnStarted(turnId);
      fake.live("warning", { message: "disk nearly full", reason: "disk" });
      fake.said(turnId, "m", "done");
      fake.said("some-other-turn", "x", "not mine");
      fake.turnCompleted(turnId);
      fake.live("warning", { message: "after the end", reason: "disk" });
    });
    const stream = thread.stream("go");
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual([
      "turn/started",
      "warning",
      "item/started",
      "item/agentMessage/delta",
      "item/completed",
      "turn/completed",
    ]);
    expect((await stream.result).text).toBe("done");
  });

  test("of a failed turn ends plainly; the failure is in the result", async () => {
    const { thread } = await scene((fake, turnId) => {
      fake.turnStarted(turnId);
      fake.turnCompleted(turnId, { status: "failed" });
    });
    const stream = thread.stream("go");
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(["turn/started", "turn/completed"]);
    await expect(stream.result).rejects.toBeInstanceOf(TurnFailedError);
  });

  test("that is refused or cut off ends with the error", async () => {
    const { server, thread } = await scene((fake, turnId) => fake.turnStarted(turnId));
    const cutOff = thread.stream("go");
    const reading = (async () => {
      for await (const event of cutOff) {
        expect(event.type).toBe("turn/started");
        server.close();
      }
    })();
    await expect(reading).rejects.toHaveProperty("kind", "closed");
    await expect(cutOff.result).rejects.toHaveProperty("kind", "closed");
  });

  test("that nobody reads to the end still has its result", async () => {
    const { thread } = await scene((fake, turnId) => fake.wholeTurn(turnId, "done"));
    const stream = thread.stream("go");
    for await (const _ of stream) break;
    expect((await stream.result).text).toBe("done");
  });
});

describe("the state of a thread", () => {
  test("holds what was told before the handle existed and all that follows", async () => {
    const { fake, thread } = await scene((played, turnId) => {
      played.turnStarted(turnId);
      played.said(turnId, "m", "done");
      played.turnCompleted(turnId);
    });
    expect(thread.state.thread.id).toBe("thread-1");
    await client?.models();
    expect(thread.state).toMatchObject({ seq: 1, settings: SETTINGS });
    await thread.run("go");
    expect(thread.state.turns).toMatchObject([
      { id: "turn-1", status: "completed", items: [{ text: "done" }] },
    ]);
    fake.stored("thread/name/updated", { name: "A good name" });
    await client?.models();
    expect(thread.state.thread.name).toBe("A good name");
    expect(thread.state.seq).toBe(fake.seq);
    thread.release();
    fake.stored("thread/name/updated", { name: "A later name" });
    await client?.models();
    expect(thread.state.thread.name).toBe("A good name");
  });

  test("after attach is the snapshot with everything that came meanwhile on top", async () => {
    const { server } = await scene();
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
      };
      queueMicrotask(() => fake.said("turn-1", "m", "hello"));
      return answer;
    });
    const thread = await client?.attachThread("thread-2");
    expect(thread?.state).toMatchObject({ activeTurnId: "turn-1", usage: usage(7, 8) });
    expect(thread?.state.openItemIds).toContain("c");
    await client?.models();
    expect(thread?.state.turns[0]?.items).toMatchObject([{ id: "c" }, { id: "m", text: "hello" }]);
    expect(thread?.cursor).toEqual({ afterSeq: 4, epoch: "e1" });
  });

  test("goes on from a cursor without a snapshot, and is replaced when the place is gone", async () => {
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

  test("of a resumed thread is its history; resuming what is gone leaves nothing behind", async () => {
    const { server } = await scene();
    const fake = new FakeThread(server, "thread-2");
    server.answer("thread/resume", () => {
      queueMicrotask(() => {
        fake.started();
        fake.wholeTurn("turn-1", "what I said before");
      });
      return { thread: aThread("thread-2"), epoch: "e1", truncated: false };
    });
    const thread = await client?.resumeThread("thread-2", { model: "test/other" });
    await client?.models();
    expect(thread?.state.turns).toMatchObject([{ items: [{ text: "what I said before" }] }]);
    expect(paramsOf(server, "thread/resume")).toEqual([{ model: "test/other", threadId: "thread-2" }]);
    server.answer("thread/resume", () => {
      throw new Refusal("threadNotFound", "gone");
    });
    await expect(client?.resumeThread("thread-3")).rejects.toHaveProperty("kind", "threadNotFound");
  });
});

describe("a thread", () => {
  test("can be steered, interrupted and let go", async () => {
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

  test("whose start is never answered does not keep listening", async () => {
    const { server } = await scene();
    server.answer("thread/start", () => NO_ANSWER);
    await expect(client?.startThread({}, { timeoutMs: 1 })).rejects.toHaveProperty("kind", "timedOut");
  });
});
