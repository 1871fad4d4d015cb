import type { Params } from "@flint/protocol";
import { connect } from "@flint/sdk";
import { TestClock, temporaryFolder, testEngine, WireClient } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { Frontends } from "../frontends.ts";
import { Clients } from "../listeners/clients.ts";
import { WebSocketListener } from "../listeners/web-socket-listener.ts";
import { OpenServer, type OpenServerOptions } from "./testing/open-server.ts";

type Server = NonNullable<Params<"thread/start">["mcpServers"]>[number];
const PROGRAM: Server = { type: "stdio", name: "notes", command: "/bin/notes", args: [], env: {} };
const ADDRESS: Server = { type: "http", name: "notes", url: "http://127.0.0.1:9/mcp", headers: {} };
const REJECTED = { message: expect.stringMatching(/"notes" is a program.*--allow-remote-mcp/) };

async function open(options: OpenServerOptions = {}) {
  const { path: folder } = await temporaryFolder();
  const { engine } = testEngine({});
  const kit = { engine, folder, clock: new TestClock(), atEnd: onTestFinished };
  return OpenServer.start(kit, options);
}

/** Sends requests over a WebSocket and returns the last response. */
async function ask(server: OpenServer, path: string, requests: readonly object[]): Promise<unknown> {
  const webSocket = await server.webSocket(path);
  const answers = new Map<unknown, unknown>();
  for (const [id, request] of requests.entries()) {
    const answered = new Promise<void>((resolve) => {
      webSocket.on("message", (data) => {
        const message = JSON.parse(String(data));
        if (message.id !== id || message.method !== undefined) return;
        answers.set(id, message);
        resolve();
      });
    });
    webSocket.send(`${JSON.stringify({ jsonrpc: "2.0", id, ...request })}\n`);
    await answered;
  }
  return answers.get(requests.length - 1);
}

describe("client-provided MCP servers", () => {
  test("programs are rejected from a WebSocket client, URLs accepted", async () => {
    const client = await (await open()).client();
    const rejected = { ...REJECTED, data: { field: "mcpServers[1]", reason: "invalidParams" } };
    const both = { mcpServers: [{ ...ADDRESS, name: "other" }, PROGRAM] };
    await expect(client.call("thread/start", both)).rejects.toMatchObject(rejected);
    const { thread } = await client.call("thread/start", { mcpServers: [ADDRESS] });
    const provided = { threadId: thread.id, mcpServers: [PROGRAM] };
    await expect(client.call("thread/attach", provided)).rejects.toMatchObject(REJECTED);
    await expect(client.call("thread/resume", provided)).rejects.toMatchObject(REJECTED);
    expect((await client.call("thread/list", {})).data).toMatchObject([{ id: thread.id }]);
  });

  test("an ACP client on a WebSocket gets an ACP error", async () => {
    const server = await open();
    const initialize = { method: "initialize", params: { protocolVersion: 1 } };
    const session = { cwd: "/", mcpServers: [{ name: "notes", command: "/bin/notes", args: [], env: [] }] };
    const answer = await ask(server, "/acp", [initialize, { method: "session/new", params: session }]);
    expect(answer).toMatchObject({ error: { code: -32602, ...REJECTED } });
  });

  test("a WebSocket listener rejects programs by default", async () => {
    const clients = new Clients(new Frontends(testEngine({}).engine), new TestClock());
    const rules = { root: "flint", accessOf: undefined, allowHosts: [], allowOrigins: [] } as const;
    const endpoint = { host: "127.0.0.1", port: 0, clients, clock: new TestClock() };
    const listener = await WebSocketListener.start({ ...rules, ...endpoint });
    onTestFinished(async () => {
      await clients.close();
      await listener.close();
    });
    const client = await connect({ url: listener.address });
    onTestFinished(() => client.close());
    await expect(client.call("thread/start", { mcpServers: [PROGRAM] })).rejects.toMatchObject(REJECTED);
  });

  test("programs are accepted from a unix socket, which only the server's user can reach", async () => {
    const server = await open();
    const socket = await server.socket();
    const wire = WireClient.over(socket, socket);
    await wire.request("initialize", { clientInfo: { name: "test", version: "1" } });
    expect(await wire.request("thread/start", { mcpServers: [PROGRAM] })).toHaveProperty("thread.id");
  });

  test("programs are accepted from a WebSocket client if the server allows it", async () => {
    const client = await (await open({ allowRemoteMcp: true })).client();
    expect(await client.call("thread/start", { mcpServers: [PROGRAM] })).toHaveProperty("thread.id");
  });
});
