import { readFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { LIMITS } from "@flint/protocol";
import { settled, TestClock, temporaryFolder, testEngine } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { Frontends } from "../frontends.ts";
import {
  BrokenFrontends,
  closeCode,
  HELLO,
  nextMessage,
  OpenServer,
  type OpenServerOptions,
  stderrOf,
} from "../serve/testing/open-server.ts";
import { Clients } from "./clients.ts";
import { WebSocketListener } from "./web-socket-listener.ts";
import { webSocketLibrary } from "./web-socket-transport.ts";

async function open(options: OpenServerOptions = {}) {
  const { path: folder } = await temporaryFolder();
  const clock = new TestClock();
  const { engine } = testEngine();
  const server = await OpenServer.start({ engine, folder, clock, atEnd: onTestFinished }, options);
  return { server, clock };
}

/** Sends exactly this and gives all that comes back until the other side ends. */
async function raw(port: number, head: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write(head);
  return text(socket);
}

function upgrade(port: number, lines: readonly string[], path = "/flint"): Promise<string> {
  const always = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
  const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
  return raw(port, [`GET ${path} HTTP/1.1`, ...always, key, ...lines, "", ""].join("\r\n"));
}

describe("a WebSocket listener", () => {
  test("serves a client with the token at the front end of its path", async () => {
    const { server } = await open();
    const flint = await server.webSocket("/flint");
    flint.send(HELLO);
    expect(await nextMessage(flint)).toMatchObject({ id: 1, result: { agentInfo: { name: "flint" } } });
    const harness = await server.webSocket("/harness");
    harness.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} }));
    expect(await nextMessage(harness)).toMatchObject({ jsonrpc: "2.0", id: 1 });
  });

  test("announces its port, so that no sandbox leads there", async () => {
    const { server } = await open();
    const names = () => readFileSync("/proc/net/unix", "utf8");
    expect(names()).toContain(`@flint-port-${server.port}-`);
    await server.listening.withdraw();
    expect(names()).not.toContain(`@flint-port-${server.port}-`);
  });

  test("answers 503 if the front end cannot be loaded, and retries for the next client", async () => {
    const broken = new BrokenFrontends();
    const said = stderrOf(onTestFinished);
    const clients = new Clients(new Frontends(testEngine().engine, {}, broken.load), new TestClock());
    const rules = { root: "flint", accessOf: undefined, allowHosts: [], allowOrigins: [] } as const;
    const endpoint = { host: "127.0.0.1", port: 0, clients, clock: new TestClock() };
    const listener = await WebSocketListener.start({ ...rules, ...endpoint });
    onTestFinished(async () => {
      await clients.close();
      await listener.close();
    });
    const host = `Host: 127.0.0.1:${listener.port}`;
    expect(await upgrade(listener.port, [host])).toBe(
      "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    );
    expect(said()).toBe("flint: Cannot load the flint front end: half of it is missing\n");
    broken.repair();
    const { WebSocket } = webSocketLibrary();
    const client = new WebSocket(`ws://127.0.0.1:${listener.port}/flint`);
    onTestFinished(() => client.terminate());
    await new Promise((resolve) => client.once("open", resolve));
    client.send(HELLO);
    expect(await nextMessage(client)).toMatchObject({ id: 1, result: {} });
  });

  test("listens on loopback only [P28]", async () => {
    const { server } = await open();
    expect(server.listening.listeners[0]).toMatchObject({ address: `ws://127.0.0.1:${server.port}` });
    const elsewhere = connect(server.port, "127.0.0.2");
    onTestFinished(() => void elsewhere.destroy());
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => elsewhere.once("error", resolve));
    expect(error.code).toBe("ECONNREFUSED");
  });

  test("answers a wrong or missing token with 401 and nothing else [P28]", async () => {
    const { server } = await open();
    const host = `Host: 127.0.0.1:${server.port}`;
    const wrong = await upgrade(server.port, [host, `Authorization: Bearer ${"x".repeat(43)}`]);
    const missing = await upgrade(server.port, [host]);
    const unknownPath = await upgrade(server.port, [host], "/nowhere");
    const inPath = await upgrade(server.port, [host], `/flint?token=${server.token}`);
    expect(wrong).toBe(
      "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\nWWW-Authenticate: Bearer\r\n\r\n",
    );
    expect([missing, unknownPath, inPath]).toEqual([wrong, wrong, wrong]);
  });

  test("rejects a foreign Origin or Host before anything else [P29]", async () => {
    const { server } = await open();
    const bearer = `Authorization: Bearer ${server.token}`;
    const host = `Host: 127.0.0.1:${server.port}`;
    const statuses = await Promise.all([
      upgrade(server.port, [host, bearer, "Origin: http://evil.example"]),
      upgrade(server.port, [host, bearer, "Origin: null"]),
      upgrade(server.port, [host, bearer, `Origin: http://127.0.0.1:${server.port}`]),
      upgrade(server.port, ["Host: evil.example", bearer]),
      raw(server.port, `POST / HTTP/1.1\r\n${host}\r\nOrigin: http://evil\r\nContent-Length: 2\r\n\r\n{}`),
      raw(server.port, `GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n`),
    ]);
    expect(statuses.map((answer) => answer.slice(9, 12))).toEqual(["403", "403", "403", "421", "403", "421"]);
  });

  test("answers health checks without a token", async () => {
    const { server } = await open();
    const ask = (path: string, headers: Record<string, string> = {}) =>
      new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
        const asked = request({ host: "127.0.0.1", port: server.port, path, headers }, async (answer) =>
          resolve({ status: answer.statusCode, body: await text(answer) }),
        );
        asked.once("error", reject).end();
      });
    const bearer = { Authorization: `Bearer ${server.token}` };
    expect(await ask("/healthz")).toEqual({ status: 200, body: "ok\n" });
    expect(await ask("/readyz")).toEqual({ status: 200, body: "ok\n" });
    expect(await ask("/flint")).toEqual({ status: 401, body: "" });
    expect(await ask("/flint", bearer)).toEqual({ status: 426, body: "" });
    expect(await ask("/nowhere", bearer)).toEqual({ status: 404, body: "" });
    const old = `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`;
    expect(await raw(server.port, old)).toMatch(/^HTTP\/1.1 200 OK\r\n(.*\r\n)+ok\n$/);
  });

  test("requires no token only with --no-token", async () => {
    const { server } = await open({ noToken: true });
    const client = await server.webSocket("/flint");
    client.send(HELLO);
    expect(await nextMessage(client)).toMatchObject({ id: 1 });
  });

  test("reads a message with line breaks as one, and survives malformed ones", async () => {
    const { server } = await open();
    const client = await server.webSocket();
    client.send("");
    client.send(JSON.stringify(JSON.parse(HELLO), undefined, 2).replaceAll("\n", "\r\n"));
    expect(await nextMessage(client)).toMatchObject({ id: 1, result: {} });
    client.send("not json");
    expect(await nextMessage(client)).toMatchObject({ id: null, error: { code: -32700 } });
  });

  test("negotiates no compression", async () => {
    const { server } = await open();
    expect((await server.webSocket()).extensions).toBe("");
  });

  test("closes with the right code for messages that are too big or not text", async () => {
    const { server } = await open();
    const big = await server.webSocket();
    big.send("x".repeat(LIMITS.line + 1));
    expect(await closeCode(big)).toBe(1009);
    const binary = await server.webSocket();
    binary.send(Buffer.from(HELLO));
    expect(await closeCode(binary)).toBe(1003);
  });

  test("rejects a head that is too long", async () => {
    const { server } = await open();
    const long = `X-Long: ${"x".repeat(LIMITS.httpHead)}`;
    expect(await upgrade(server.port, [`Host: 127.0.0.1:${server.port}`, long])).toContain(" 431 ");
  });
});

describe("silent connections", () => {
  test("do not starve the next client, even 200 of them and 200 sockets without a request", async () => {
    const { server } = await open();
    for (let count = 0; count < 200; count += 1) {
      const socket = connect(server.port, "127.0.0.1");
      onTestFinished(() => void socket.destroy());
    }
    await Promise.all(Array.from({ length: 200 }, () => server.webSocket()));
    const client = await server.webSocket();
    client.send(HELLO);
    expect(await nextMessage(client)).toMatchObject({ id: 1 });
  });

  test("are closed after a while; initialized clients stay", async () => {
    const { server, clock } = await open();
    const silent = await server.webSocket();
    const chatty = await server.webSocket();
    chatty.send(JSON.stringify({ id: 0, method: "thread/list", params: {} }));
    expect(await nextMessage(chatty)).toMatchObject({ error: {} });
    const proper = await server.webSocket();
    proper.send(HELLO);
    await nextMessage(proper);
    const codes = [closeCode(silent), closeCode(chatty)];
    await clock.advance(LIMITS.initializeMilliseconds - 1);
    expect(server.listening.size).toBe(3);
    await clock.advance(1);
    expect(await Promise.all(codes)).toEqual([1008, 1008]);
    proper.send(JSON.stringify({ id: 2, method: "thread/list", params: {} }));
    expect(await nextMessage(proper)).toMatchObject({ id: 2, result: {} });
  });

  test("give way at the connection limit; initialized clients do not", async () => {
    const { server } = await open();
    const silent = await server.webSocket();
    const evicted = closeCode(silent);
    for (let count = 1; count < LIMITS.connections; count += 1) {
      const client = await server.webSocket();
      client.send(HELLO);
      await nextMessage(client);
    }
    const last = await server.webSocket();
    last.send(HELLO);
    expect(await nextMessage(last)).toMatchObject({ id: 1 });
    expect(await evicted).toBe(1013);
    const tooMany = await server.webSocket();
    expect(await closeCode(tooMany)).toBe(1013);
    last.close();
    while (server.listening.size === LIMITS.connections) await settled();
    const next = await server.webSocket();
    next.send(HELLO);
    expect(await nextMessage(next)).toMatchObject({ id: 1 });
  });
});

test("closes a client that does not answer pings", async () => {
  const { server, clock } = await open();
  const dead = await server.webSocket();
  const alive = await server.webSocket();
  for (const client of [dead, alive]) {
    client.send(HELLO);
    await nextMessage(client);
  }
  dead.pause();
  const pinged = new Promise((resolve) => alive.once("ping", resolve));
  await clock.advance(LIMITS.pingMilliseconds);
  await pinged;
  // Its answer has come when the answer to what it asks after that has.
  alive.send(JSON.stringify({ id: 2, method: "thread/list", params: {} }));
  await nextMessage(alive);
  await clock.advance(LIMITS.pingMilliseconds);
  const gone = closeCode(dead);
  dead.resume();
  expect(await gone).toBe(1006);
  alive.send(JSON.stringify({ id: 3, method: "thread/list", params: {} }));
  expect(await nextMessage(alive)).toMatchObject({ id: 3 });
});
