import { memoryPair, Peer, RemoteError, type Transport } from "@flint/rpc";
import { composeEngine } from "@flint/server";
import { Gate, type Script, scriptedDriver, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { flintFrontend } from "../flint/frontend.ts";
import { ClientConnection } from "./client-connection.ts";

/** A client of the Flint door that records what it is asked and told. */
class Client {
  readonly told: { method: string; params: unknown }[] = [];
  readonly asked: { id: Parameters<Peer["reply"]>[0]; method: string; params: unknown }[] = [];
  readonly peer: Peer;
  #wake: (() => void)[] = [];

  constructor(transport: Transport) {
    this.peer = new Peer(transport, {
      header: false,
      lineLimit: 1 << 24,
      queueLimit: 1 << 24,
      handlers: {
        request: (id, method, params) => this.#note(this.asked, { id, method, params }),
        notification: (method, params) => this.#note(this.told, { method, params }),
        bad: () => undefined,
      },
    });
    this.peer.start();
  }

  async hello(): Promise<this> {
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

  heard(method: string) {
    return this.until(() => this.told.find((message) => message.method === method));
  }

  wasAsked() {
    return this.until(() => this.asked[0]);
  }

  #note<Entry>(list: Entry[], entry: Entry): void {
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
    return new Client(theirs).hello();
  };
}

const input = [{ type: "text", text: "go" }];

describe("a connection", () => {
  test("asks every client; the first answer counts and the others are told", async () => {
    const connect = await server([{ command: "make" }]);
    const first = await connect();
    const second = await connect();
    const threadId = await first.startThread();
    await second.call("thread/attach", { threadId });
    await first.call("turn/start", { threadId, input });
    const asked = await second.wasAsked();
    await first.wasAsked();
    second.peer.reply(asked.id, { decision: "accept" });
    const resolved = await first.heard("approval/resolved");
    expect(resolved.params).toMatchObject({ resolution: { decision: { outcome: "allow" }, by: "client" } });
    await first.heard("turn/completed");
    expect(first.asked).toHaveLength(1);
  });

  test("takes a client that cannot answer for a no only when it is the only one", async () => {
    const connect = await server([{ command: "make" }]);
    const only = await connect();
    const threadId = await only.startThread();
    await only.call("turn/start", { threadId, input });
    const { id } = await only.wasAsked();
    only.peer.replyError(id, { code: -32601, message: "what is an approval?" });
    const resolved = await only.heard("approval/resolved");
    expect(resolved.params).toMatchObject({ resolution: { decision: { outcome: "deny" } } });
  });

  test("leaves the question to the others when one client cannot answer", async () => {
    const connect = await server([{ command: "make" }]);
    const [able, unable] = [await connect(), await connect()];
    const threadId = await able.startThread();
    await unable.call("thread/attach", { threadId });
    await able.call("turn/start", { threadId, input });
    const refused = await unable.wasAsked();
    unable.peer.replyError(refused.id, { code: -32601, message: "no" });
    const { id } = await able.wasAsked();
    able.peer.reply(id, { decision: "accept" });
    const resolved = await unable.heard("approval/resolved");
    expect(resolved.params).toMatchObject({ resolution: { decision: { outcome: "allow" } } });
  });

  test("lets a turn go on when its client leaves, and a later one answer for it", async () => {
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
    const { id } = await later.wasAsked();
    later.peer.reply(id, { decision: "accept" });
    const ended = await later.heard("turn/completed");
    expect(ended.params).toMatchObject({ turn: { status: "completed" } });
  });

  test("names the wrong field of params and the methods there are [S0-82]", async () => {
    const client = await (await server([]))();
    const refused = async (method: string, params: object) =>
      client.call(method, params).then(
        () => undefined,
        (error: unknown) => (error instanceof RemoteError ? error : undefined),
      );
    const wrong = await refused("turn/start", { threadId: "../x", input: [] });
    expect(wrong).toMatchObject({ code: -32602, data: { reason: "invalidParams", field: "threadId" } });
    expect(wrong?.message).toContain("threadId");
    const unknown = await refused("__proto__", {});
    expect(unknown).toMatchObject({ code: -32601, data: { reason: "methodNotFound" } });
    expect(unknown?.message).toContain("thread/start");
    expect(await refused("hasOwnProperty", {})).toMatchObject({ code: -32601 });
  });
});
