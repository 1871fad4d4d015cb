import { afterEach, describe, expect, test } from "vitest";
import { FlintConnectionError, FlintRequestError, TurnFailedError } from "../errors.ts";
import type { AgentEvent } from "../events/agent-event.ts";
import { aTurn, Refusal } from "../testing/fake-server.ts";
import { paramsOf, Stage } from "../testing/scene.ts";

const usage = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });

const { scene, caughtUp } = new Stage(afterEach);

describe("run", () => {
  test("resolves with the last text, the items and the usage once turn/completed came [S4-20]", async () => {
    const { server, thread } = await scene((fake, turnId) => {
      fake.turnStarted(turnId);
      fake.completeMessage(turnId, "m1", "Let me look.");
      fake.stored("thread/tokenUsage/updated", { turnId, usage: usage(110, 12), last: usage(10, 2) });
      const item = { type: "commandExecution", id: "c1", command: "ls", cwd: "/code", status: "completed" };
      fake.stored("item/completed", { turnId, item: { ...item, exitCode: 0 } });
      fake.completeMessage(turnId, "m2", "There are two files.");
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
      played.completeMessage(turnId, "m1", "almost");
      played.stored("error", { turnId, error: { message: "slow down" }, willRetry: true });
      played.live("thread/status/changed", { status: { type: "idle" } });
      played.turnCompleted("another-turn");
    });
    let settled = false;
    const running = thread.run("go").finally(() => {
      settled = true;
    });
    await caughtUp();
    fake.turnStarted("another-turn");
    fake.turnCompleted("another-turn");
    await caughtUp();
    expect(settled).toBe(false);
    fake.turnCompleted("turn-1");
    expect((await running).text).toBe("almost");
  });

  test("rejects with the turn when the turn fails, unless that is allowed", async () => {
    const { thread } = await scene((fake, turnId) => {
      fake.turnStarted(turnId);
      fake.completeMessage(turnId, `${turnId}-m`, "I tried");
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
    await caughtUp();
    server.close();
    await refused;
    await expect(thread.run("again")).rejects.toHaveProperty("kind", "closed");
  });

  test("emits its events at once, and ignores an error in a listener", async () => {
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
      { type: "localImage", path: "/project/cat.png" },
    ]);
    expect(paramsOf(server, "turn/start")).toMatchObject([
      { input: [{ type: "text" }, { type: "localImage" }] },
    ]);
  });

  test("ignores replayed turns", async () => {
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
      played.completeMessage(turnId, "m", "half of the");
    });
    server.answer("turn/interrupt", () => {
      queueMicrotask(() => fake.turnCompleted("turn-1", { status: "interrupted" }));
      return {};
    });
    const controller = new AbortController();
    const running = thread.run("go", { signal: controller.signal });
    await caughtUp();
    await caughtUp();
    controller.abort();
    expect(await running).toMatchObject({ status: "interrupted", text: "half of the" });
    expect(paramsOf(server, "turn/interrupt")).toEqual([{ threadId: "thread-1", turnId: "turn-1" }]);
  });

  test("that fires before the turn starts nothing", async () => {
    const { server, thread } = await scene();
    const signal = AbortSignal.abort(new Error("too late"));
    await expect(thread.run("go", { signal })).rejects.toThrow("too late");
    await caughtUp();
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
    await caughtUp();
    controller.abort();
    await late;
  });

  test("that arrives too late is ignored", async () => {
    const { server, fake, thread } = await scene((played, turnId) => played.turnStarted(turnId));
    server.answer("turn/interrupt", () => {
      queueMicrotask(() => fake.turnCompleted("turn-1"));
      throw new Refusal("notRunning", "No turn runs.");
    });
    const controller = new AbortController();
    const running = thread.run("go", { signal: controller.signal });
    await caughtUp();
    controller.abort();
    expect(await running).toHaveProperty("status", "completed");
  });
});

describe("stream", () => {
  test("gives the events of the turn and ends after turn/completed", async () => {
    const { thread } = await scene((fake, turnId) => {
      fake.turnStarted(turnId);
      fake.live("warning", { message: "disk nearly full", reason: "disk" });
      fake.completeMessage(turnId, "m", "done");
      fake.completeMessage("some-other-turn", "x", "not mine");
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

  test("that is not read to the end still has its result", async () => {
    const { thread } = await scene((fake, turnId) => fake.wholeTurn(turnId, "done"));
    const stream = thread.stream("go");
    for await (const _ of stream) break;
    expect((await stream.result).text).toBe("done");
  });
});
