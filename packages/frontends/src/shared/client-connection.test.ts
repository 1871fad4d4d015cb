import { FLINT } from "@flint/protocol";
import { memoryPair, Peer, RemoteError, type Transport } from "@flint/rpc";
import { composeEngine } from "@flint/server";
import { Gate, type Script, scriptedDriver, temporaryFolder, testEngine } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { flintFrontend } from "../flint/frontend.ts";
import { ClientConnection } from "./client-connection.ts";
import type { Frontend } from "./frontend.ts";

/** A client of the Flint front end that records what it is sent. */
class Client {
  readonly notifications: { method: string; params: unknown }[] = [];
  readonly requests: { id: Parameters<Peer["reply"]>[0]; method: string; params: unknown }[] = [];
  readonly peer: Peer;
  #wake: (() => void)[] = [];

  constructor(transport: Transport) {
    this.peer = new Peer(transport, {
      header: false,
      lineLimit: 1 << 24,
      queueLimit: 1 << 24,
      handlers: {
        request: (id, method, params) => this.#record(this.requests, { id, method, params }),
        notification: (method, params) => this.#record(this.notifications, { method, params }),
        bad: () => undefined,
      },
    });
    this.peer.start();
  }

  async initialize(): Promise<this> {
    await this.peer.request("initialize", { clientInfo: { name: "test", version: "1" } });
    return this;
  }

  async call(method: string, params: object): Promise<unknown> {
    return this.peer.request(method, params);
  }

  async startThread(): Promise<string> {
    const { thread } = (await this.call("thread/start", {})) as { thread: { id: string } };
    return thread.id;
  }

  async until<Value>(look: () => Value | undefined): Promise<Value> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      await new Promise<void>((wake) => this.#wake.push(wake));
    }
  }

  received(method: string) {
    return this.until(() => this.notifications.find((message) => message.method === method));
  }

  asked() {
    return this.until(() => this.requests[0]);
  }

  #record<Entry>(list: Entry[], entry: Entry): void {
    list.push(entry);
    for (const wake of this.#wake.splice(0)) wake();
  }
}

async function server(script: Script) {
  const { path } = await temporaryFolder();
  const drivers = [scriptedDriver({ scripts: () => script })];
  const engine = composeEngine({ root: path, cwd: path, drivers, approvalPolicy: "always" });
  onTestFinished(() => engine.close());
  const frontend = flintFrontend();
  return async () => {
    const [ours, theirs] = memoryPair();
    new ClientConnection(frontend, engine, ours);
    return new Client(theirs).initialize();
  };
}

const input = [{ type: "text", text: "go" }];

describe("a client connection", () => {
  test("asks every client, and the first answer counts", async () => {
    const connect = await server([{ command: "make" }]);
    const first = await connect();
    const second = await connect();
    const threadId = await first.startThread();
    await second.call("thread/attach", { threadId });
    await first.call("turn/start", { threadId, input });
    const asked = await second.asked();
    await first.asked();
    second.peer.reply(asked.id, { decision: "accept" });
    const resolved = await first.received("approval/resolved");
    expect(resolved.params).toMatchObject({ resolution: { decision: { outcome: "allow" }, by: "client" } });
    await first.received("turn/completed");
    expect(first.requests).toHaveLength(1);
  });

  test("denies for a client that cannot answer when it is the only one", async () => {
    const connect = await server([{ command: "make" }]);
    const only = await connect();
    const threadId = await only.startThread();
    await only.call("turn/start", { threadId, input });
    const { id } = await only.asked();
    only.peer.replyError(id, { code: -32601, message: "unknown method" });
    const resolved = await only.received("approval/resolved");
    expect(resolved.params).toMatchObject({ resolution: { decision: { outcome: "deny" } } });
  });

  test("leaves an approval to the others when one client cannot answer", async () => {
    const connect = await server([{ command: "make" }]);
    const [able, unable] = [await connect(), await connect()];
    const threadId = await able.startThread();
    await unable.call("thread/attach", { threadId });
    await able.call("turn/start", { threadId, input });
    const request = await unable.asked();
    unable.peer.replyError(request.id, { code: -32601, message: "no" });
    const { id } = await able.asked();
    able.peer.reply(id, { decision: "accept" });
    const resolved = await unable.received("approval/resolved");
    expect(resolved.params).toMatchObject({ resolution: { decision: { outcome: "allow" } } });
  });

  test("continues a turn when its client leaves, and asks a later one", async () => {
    const gate = new Gate();
    const connect = await server([{ wait: gate }, { command: "make" }, { text: "done" }]);
    const leaving = await connect();
    const threadId = await leaving.startThread();
    await leaving.call("turn/start", { threadId, input });
    await gate.reached;
    leaving.peer.close();
    gate.open();
    const later = await connect();
    await later.call("thread/attach", { threadId });
    const { id } = await later.asked();
    later.peer.reply(id, { decision: "accept" });
    const ended = await later.received("turn/completed");
    expect(ended.params).toMatchObject({ turn: { status: "completed" } });
  });

  test("names the wrong field of params and the known methods [S0-82]", async () => {
    const client = await (await server([]))();
    const rejected = async (method: string, params: object) =>
      client.call(method, params).then(
        () => undefined,
        (error: unknown) => (error instanceof RemoteError ? error : undefined),
      );
    const wrong = await rejected("turn/start", { threadId: "../x", input: [] });
    expect(wrong).toMatchObject({ code: -32602, data: { reason: "invalidParams", field: "threadId" } });
    expect(wrong?.message).toContain("threadId");
    const unknown = await rejected("__proto__", {});
    expect(unknown).toMatchObject({ code: -32601, data: { reason: "methodNotFound" } });
    expect(unknown?.message).toContain("thread/start");
    expect(await rejected("hasOwnProperty", {})).toMatchObject({ code: -32601 });
  });

  test("sends one answer, whatever a handler does after it", async () => {
    const { engine } = testEngine();
    const frontend: Frontend = {
      vocabulary: FLINT,
      initializeFirst: false,
      serve: () => ({
        request: async (_params, { reply, replyEncoded }) => {
          reply({ first: true });
          reply({ second: true });
          replyEncoded("{}");
          throw new Error("too late");
        },
        notification: () => undefined,
        event: () => undefined,
        errorOf: ({ message }) => ({ code: 1, message }),
      }),
    };
    const [ours, theirs] = memoryPair();
    const connection = new ClientConnection(frontend, engine, ours);
    const lines: string[] = [];
    theirs.start({ chunk: (bytes) => lines.push(String(bytes)), closed: () => undefined });
    theirs.write('{"id":7,"method":"any"}\n');
    await connection.idle();
    await connection.close();
    expect(lines.join("")).toBe('{"id":7,"result":{"first":true}}\n');
  });
});
