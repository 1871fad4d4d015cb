import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FlintClient } from "../client/flint-client.ts";
import { connect } from "../connect.ts";
import { TurnFailedError } from "../errors.ts";
import { describeEvent } from "../events/describe-event.ts";
import { aThread, aTurn, FakeServer, FakeThread, Refusal } from "../testing/fake-server.ts";
import { ConversationAdapter, KeyedQueue, MemoryConversationMap } from "./adapter.ts";
import { FileConversationMap } from "./file-conversation-map.ts";

const SERVER = fileURLToPath(new URL("../fixtures/fake-server.mjs", import.meta.url));
const context = { cwd: "/code" };

/** Servers over one store of threads: each connection is a new server, as after a restart. */
class World {
  readonly servers: FakeServer[] = [];
  readonly threads = new Map<string, FakeThread>();
  /** Plays a turn; by default it answers with the thread and the last line of the prompt. */
  play: (thread: FakeThread, turnId: string, prompt: string) => void = (thread, turnId, prompt) => {
    thread.wholeTurn(turnId, `${thread.id}: ${prompt.split("\n").at(-1)}`);
  };
  #turns = 0;

  get server(): FakeServer {
    const server = this.servers.at(-1);
    if (server === undefined) throw new Error("no client has connected yet");
    return server;
  }

  readonly connect = (): Promise<FlintClient> => {
    const server = new FakeServer();
    this.servers.push(server);
    server.answer("thread/start", (params) => {
      const thread = new FakeThread(server, `thread-${this.threads.size + 1}`);
      this.threads.set(thread.id, thread);
      queueMicrotask(() => thread.started());
      return { thread: aThread(thread.id, { cwd: params.cwd ?? "/" }), modelProvider: "test" };
    });
    server.answer("thread/resume", ({ threadId }) => {
      this.#known(threadId);
      this.threads.set(threadId, new FakeThread(server, threadId));
      return { thread: aThread(threadId), epoch: "e", truncated: false };
    });
    server.answer("turn/start", ({ threadId, input }) => {
      const thread = this.#known(threadId);
      this.#turns += 1;
      const turnId = `turn-${this.#turns}`;
      const [piece] = input;
      queueMicrotask(() => this.play(thread, turnId, piece?.type === "text" ? piece.text : ""));
      return { turn: aTurn(turnId) };
    });
    server.answer("turn/interrupt", ({ threadId, turnId }) => {
      const thread = this.#known(threadId);
      queueMicrotask(() => thread.turnCompleted(turnId ?? "", { status: "interrupted" }));
      return {};
    });
    return connect({ transport: server.transport });
  };

  #known(threadId: string): FakeThread {
    const thread = this.threads.get(threadId);
    if (thread === undefined) throw new Refusal("threadNotFound", `No thread has the id ${threadId}.`);
    return thread;
  }
}

let world = new World();
let adapters: ConversationAdapter[] = [];
let folder = "";
beforeEach(async () => {
  world = new World();
  adapters = [];
  folder = await mkdtemp(join(tmpdir(), "flint-adapter-"));
});
afterEach(async () => {
  await Promise.all(adapters.map((adapter) => adapter.closeAll()));
  await rm(folder, { recursive: true });
});

function adapt(conversations = new MemoryConversationMap() as FileConversationMap | MemoryConversationMap) {
  const adapter = new ConversationAdapter({ connect: world.connect, conversations, closeMs: 1_000 });
  adapters.push(adapter);
  return adapter;
}

function deferred<Value>() {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve: (value: Value) => resolve(value) };
}

async function failureOf(turn: Promise<string>): Promise<TurnFailedError> {
  const thrown = await turn.catch((error: unknown) => error);
  if (thrown instanceof TurnFailedError) return thrown;
  throw new Error(`expected a TurnFailedError and got ${String(thrown)}`, { cause: thrown });
}

describe("runTurn", () => {
  test("takes a key, a prompt and a context and resolves to the answer [S4-31]", async () => {
    const events: string[] = [];
    const answer = await adapt().runTurn("chat:1", "hello", {
      cwd: "/repo",
      model: "test/big",
      approvalPolicy: "never",
      onEvent: (event) => events.push(event.type),
    });
    expect(answer).toBe("thread-1: hello");
    expect(events.at(0)).toBe("turn/started");
    expect(events.at(-1)).toBe("turn/completed");
    const settings = { cwd: "/repo", model: "test/big", approvalPolicy: "never" };
    expect(world.server.received.slice(2)).toMatchObject([
      { method: "thread/start", params: settings },
      { method: "turn/start", params: settings },
    ]);
  });

  test("names the workspace both as cwd and before the prompt [S4-24]", async () => {
    await adapt().runTurn("chat:1", "what is here?", { cwd: "/home/me/project" });
    expect(world.server.received.at(-1)).toMatchObject({
      method: "turn/start",
      params: {
        cwd: "/home/me/project",
        input: [{ type: "text", text: "Workspace: /home/me/project\n\nwhat is here?" }],
      },
    });
  });

  test("continues in the thread of its key, each key in its own [S4-12]", async () => {
    const adapter = adapt();
    expect(await adapter.runTurn("a", "1", context)).toBe("thread-1: 1");
    expect(await adapter.runTurn("b", "2", context)).toBe("thread-2: 2");
    expect(await adapter.runTurn("a", "3", context)).toBe("thread-1: 3");
    expect(world.server.count("thread/resume")).toBe(0);
  });

  test("runs two turns of one key in order and never at once, other keys beside them", async () => {
    const log: string[] = [];
    const begun = { first: deferred<() => void>(), second: deferred<() => void>() };
    world.play = (thread, turnId, prompt) => {
      const name = prompt.split("\n").at(-1) ?? "";
      log.push(`${name} begins`);
      thread.turnStarted(turnId);
      const end = () => {
        log.push(`${name} ends`);
        thread.turnCompleted(turnId);
      };
      if (name === "first" || name === "second") begun[name].resolve(end);
      else end();
    };
    const adapter = adapt();
    const first = adapter.runTurn("a", "first", context);
    const second = adapter.runTurn("a", "second", context);
    const endFirst = await begun.first.promise;
    await adapter.runTurn("b", "other", context);
    expect(log).not.toContain("second begins");
    endFirst();
    await first;
    const endSecond = await begun.second.promise;
    endSecond();
    await second;
    expect(log.filter((line) => !line.startsWith("other"))).toEqual([
      "first begins",
      "first ends",
      "second begins",
      "second ends",
    ]);
  });

  test("remembers the conversation after a restart, by resuming its thread [S4-38, S4-12]", async () => {
    const file = join(folder, "map.json");
    await adapt(new FileConversationMap(file)).runTurn("chat:1", "remember me", context);
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
      version: 1,
      threads: { "chat:1": "thread-1" },
    });
    await adapters.at(-1)?.closeAll();
    const restarted = adapt(new FileConversationMap(file));
    expect(await restarted.runTurn("chat:1", "still there?", context)).toBe("thread-1: still there?");
    expect(world.server.received.map(({ method }) => method)).toEqual([
      "initialize",
      "initialized",
      "thread/resume",
      "turn/start",
    ]);
  });

  test("starts over in a new thread when the stored one no longer exists", async () => {
    const map = new MemoryConversationMap();
    await map.set("chat:1", "thread-long-gone");
    expect(await adapt(map).runTurn("chat:1", "hello", context)).toBe("thread-1: hello");
    expect(await map.get("chat:1")).toBe("thread-1");
  });

  test("starts over when the thread is deleted while the adapter knows it", async () => {
    const map = new MemoryConversationMap();
    const adapter = adapt(map);
    await adapter.runTurn("chat:1", "one", context);
    world.threads.delete("thread-1");
    world.threads.set("another-thread", new FakeThread(world.server, "another-thread"));
    expect(await adapter.runTurn("chat:1", "two", context)).toBe("thread-2: two");
    expect(await map.get("chat:1")).toBe("thread-2");
  });
});

describe("startNewSession", () => {
  test("makes the next turn of the key start fresh, and of no other [S4-32, S4-14]", async () => {
    const map = new MemoryConversationMap();
    const adapter = adapt(map);
    await adapter.runTurn("a", "1", context);
    await adapter.runTurn("b", "2", context);
    await adapter.startNewSession("a");
    expect(await map.get("a")).toBeUndefined();
    expect(await adapter.runTurn("a", "3", context)).toBe("thread-3: 3");
    expect(await adapter.runTurn("b", "4", context)).toBe("thread-2: 4");
  });

  test("waits for the turns of its key", async () => {
    const adapter = adapt();
    const answers = await Promise.all([
      adapter.runTurn("a", "before", context),
      adapter.startNewSession("a"),
      adapter.runTurn("a", "after", context),
    ]);
    expect(answers).toEqual(["thread-1: before", undefined, "thread-2: after"]);
  });
});

describe("every failure is a failed turn", () => {
  test("the turn itself fails [S4-27]", async () => {
    world.play = (thread, turnId) => {
      thread.turnStarted(turnId);
      thread.turnCompleted(turnId, { status: "failed", error: { message: "no credit" } });
    };
    const error = await failureOf(adapt().runTurn("chat:1", "go", context));
    expect(error).toMatchObject({ kind: "turn", threadId: "thread-1", turn: { status: "failed" } });
    expect(error.message).toBe('The turn of conversation "chat:1" failed: no credit');
  });

  test("a request is refused, and the conversation stays mapped [S4-27]", async () => {
    const map = new MemoryConversationMap();
    const adapter = adapt(map);
    await adapter.runTurn("chat:1", "one", context);
    world.server.answer("turn/start", () => {
      throw new Refusal("overloaded", "try later");
    });
    const error = await failureOf(adapter.runTurn("chat:1", "two", context));
    expect(error).toMatchObject({ kind: "request", cause: { kind: "overloaded" } });
    expect(await map.get("chat:1")).toBe("thread-1");
  });

  test("the connection is lost, and the next turn connects and resumes [S4-27]", async () => {
    const adapter = adapt();
    await adapter.runTurn("chat:1", "one", context);
    const { play } = world;
    world.play = () => world.server.close();
    const error = await failureOf(adapter.runTurn("chat:1", "two", context));
    expect(error).toMatchObject({ kind: "connection", threadId: "thread-1" });
    world.play = play;
    expect(await adapter.runTurn("chat:1", "three", context)).toBe("thread-1: three");
    expect(world.servers).toHaveLength(2);
  });

  test("the server cannot be started, dies at once, or dies in the turn", async () => {
    const cases = [
      [{ command: "no-such-flint" }, "spawnFailed", "ENOENT"],
      [{ command: process.execPath, args: [SERVER, "die-at-once"] }, "exited", "no config found"],
      [{ command: process.execPath, args: [SERVER, "die-in-turn"] }, "exited", "the agent crashed"],
    ] as const;
    for (const [spawn, kind, words] of cases) {
      const adapter = new ConversationAdapter({ connect: () => connect({ spawn }) });
      const error = await failureOf(adapter.runTurn("chat:1", "go", context));
      expect(error).toMatchObject({ kind: "connection", cause: { kind } });
      expect(error.message).toContain(words);
      await adapter.closeAll();
    }
  });

  test("the conversation cannot be stored", async () => {
    const adapter = adapt(new FileConversationMap("/dev/null/map.json"));
    expect(await failureOf(adapter.runTurn("chat:1", "go", context))).toMatchObject({ kind: "other" });
  });

  test("the turn is stopped by its signal, before or while it runs", async () => {
    const stopped = { ...context, signal: AbortSignal.abort() };
    expect(await failureOf(adapt().runTurn("chat:1", "go", stopped))).toMatchObject({ kind: "interrupted" });
    const controller = new AbortController();
    world.play = (thread, turnId) => thread.turnStarted(turnId);
    const onEvent = () => controller.abort();
    const running = adapt().runTurn("chat:1", "go", { ...context, onEvent, signal: controller.signal });
    expect(await failureOf(running)).toMatchObject({ kind: "interrupted", turn: { status: "interrupted" } });
  });
});

describe("closeAll", () => {
  test("stops what runs, refuses what waits and what comes, and ends the connection [S4-33]", async () => {
    const adapter = adapt();
    world.play = (thread, turnId) => thread.turnStarted(turnId);
    const begun = deferred<void>();
    const first = failureOf(adapter.runTurn("a", "1", { ...context, onEvent: () => begun.resolve() }));
    const waiting = failureOf(adapter.runTurn("a", "2", context));
    await begun.promise;
    await adapter.closeAll();
    expect(await first).toMatchObject({ kind: "interrupted" });
    expect(await waiting).toMatchObject({ kind: "connection", message: expect.stringContaining("closed") });
    expect(await failureOf(adapter.runTurn("b", "3", context))).toMatchObject({ kind: "connection" });
    expect(world.server.count("turn/start")).toBe(1);
    expect(world.server.count("turn/interrupt")).toBe(1);
    expect(world.servers).toHaveLength(1);
    await adapter.closeAll();
  });

  test("does not wait for ever for a turn that does not stop", async () => {
    const adapter = new ConversationAdapter({ connect: world.connect, closeMs: 5 });
    world.play = (thread, turnId) => thread.turnStarted(turnId);
    const begun = deferred<void>();
    const turn = failureOf(adapter.runTurn("a", "1", { ...context, onEvent: () => begun.resolve() }));
    await begun.promise;
    world.server.answer("turn/interrupt", () => ({}));
    await adapter.closeAll();
    expect(await turn).toMatchObject({ kind: "connection" });
  });
});

test("a whole conversation with a process: text, tool events and the stored thread id [S4-43, S4-44]", async () => {
  const file = join(folder, "map.json");
  const adapter = new ConversationAdapter({
    connect: () => connect({ spawn: { command: process.execPath, args: [SERVER, "answer"] } }),
    conversations: new FileConversationMap(file),
  });
  const lines: string[] = [];
  const answer = await adapter.runTurn("chat:1", "list the files", {
    cwd: "/code",
    onEvent: (event) => lines.push(...[describeEvent(event) ?? []].flat()),
  });
  await adapter.closeAll();
  expect(answer).toBe("You said: Workspace: /code\n\nlist the files");
  expect(lines).toEqual(["$ ls …", "$ ls … exit 0"]);
  expect(JSON.parse(await readFile(file, "utf8")).threads).toEqual({ "chat:1": "thread-1" });
});

describe("a keyed queue", () => {
  test("runs work of one key in order, also after a failure, and other keys beside it", async () => {
    const queue = new KeyedQueue();
    const log: string[] = [];
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const first = queue.run("a", async () => {
      log.push("a1 begins");
      await held;
      log.push("a1 ends");
      throw new Error("a1 failed");
    });
    const second = queue.run("a", async () => {
      log.push("a2");
      return 2;
    });
    await queue.run("b", async () => void log.push("b"));
    expect(log).toEqual(["a1 begins", "b"]);
    release();
    await expect(first).rejects.toThrow("a1 failed");
    expect(await second).toBe(2);
    await queue.settled();
    expect(log).toEqual(["a1 begins", "b", "a1 ends", "a2"]);
  });
});
