import { createServer as createHttpServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { SYSTEM_CLOCK } from "@flint/core/ports";
import { TestClock } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ConnectionEvent } from "./connection-log.ts";
import { Dialer } from "./dial.ts";
import type { ConnectionRequest, Decision } from "./host-gate.ts";
import { FilteringProxy, type ProxyOptions } from "./proxy.ts";

const ALLOW: Decision = { outcome: "allow" };
const DENY: Decision = { outcome: "deny", code: "declined", reason: "the user declined it" };

async function listening(server: ReturnType<typeof createServer> | Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  // A server that listens on a port has an address with one.
  return (server.address() as AddressInfo).port;
}

/** A proxy on this machine, whose every host is a server at `upstream`. */
async function proxyTo(upstream: number, options: Partial<ProxyOptions> = {}) {
  const events: ConnectionEvent[] = [];
  const asked: ConnectionRequest[] = [];
  const resolved: string[] = [];
  const proxy = new FilteringProxy({
    clock: SYSTEM_CLOCK,
    dialer: new Dialer({
      resolve: async (host) => {
        resolved.push(host);
        if (host.startsWith("missing")) throw new Error("ENOTFOUND");
        return [host.startsWith("inside") ? "169.254.169.254" : "93.184.216.34"];
      },
      connect: () => connect({ port: upstream, host: "127.0.0.1", allowHalfOpen: true }),
    }),
    decide: async (request) => {
      asked.push(request);
      return request.host.startsWith("denied") ? DENY : ALLOW;
    },
    commandOf: (token) => (token === "secret" ? "npm" : undefined),
    onEvent: (event) => events.push({ ...event, at: 0 }),
    ...options,
  });
  onTestFinished(() => proxy.dispose());
  const listener = createServer({ allowHalfOpen: true });
  proxy.serve(listener);
  const port = await listening(listener);
  return { proxy, port, events, asked, resolved, listener };
}

/** Sends bytes as they are, and resolves with all that comes back. */
function exchange(port: number, ...parts: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let received = "";
    socket.setEncoding("latin1").on("data", (text: string) => {
      received += text;
    });
    socket.on("error", () => undefined).once("close", () => resolve(received));
    for (const part of parts) {
      if (part === END) socket.end();
      else socket.write(part, "latin1");
    }
  });
}

/** Stands for the end of what a client sends. */
const END = "(end)";

const connectTo = (target: string, headers = "") => `CONNECT ${target} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`;
const get = (url: string, headers = "") => `GET ${url} HTTP/1.1\r\nhost: other.example\r\n${headers}\r\n`;
const basic = (text: string) => `proxy-authorization: Basic ${Buffer.from(text).toString("base64")}\r\n`;

/** Answers each connection with what it received, in capitals, and ends. */
function shouting(): Promise<number> {
  return listening(
    createServer((socket) => {
      socket.once("data", (data) => socket.end(String(data).toUpperCase()));
    }),
  );
}

describe("CONNECT", () => {
  test("tunnels to a host that is allowed, and reports it", async () => {
    const { port, events } = await proxyTo(await shouting());
    const received = await exchange(port, connectTo("Registry.example:443"), "hello");
    expect(received).toBe("HTTP/1.1 200 Connection established\r\n\r\nHELLO");
    expect(events).toEqual([{ at: 0, host: "registry.example", port: 443, outcome: "allowed" }]);
  });

  test("passes on everything that was sent before an end", async () => {
    const upstream = createServer({ allowHalfOpen: true }, (socket) => {
      let bytes = 0;
      socket.on("data", (data) => {
        bytes += data.length;
      });
      socket.once("end", () => socket.end(`${bytes} ${"x".repeat(500_000)}`));
    });
    const { port } = await proxyTo(await listening(upstream));
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.write(connectTo("a.example:443"));
    socket.write("y".repeat(100_000));
    await new Promise((resolve) => socket.once("readable", resolve));
    socket.end("y".repeat(200_000));
    let received = "";
    for await (const chunk of socket) received += String(chunk);
    const [, body = ""] = received.split("\r\n\r\n");
    expect([body.slice(0, 7), body.length]).toEqual(["300000 ", 500_007]);
  });

  test("refuses with 403, a code and a sentence, and resolves nothing", async () => {
    const { port, events, resolved } = await proxyTo(0);
    const received = await exchange(port, connectTo("denied.example:443"));
    expect(received).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    expect(received).toContain("\r\nx-proxy-error: declined\r\n");
    expect(received).toMatch(/refused the connection to denied\.example:443: the user declined it\.\n$/);
    expect(events).toMatchObject([
      { host: "denied.example", port: 443, outcome: "refused", code: "declined" },
    ]);
    expect(resolved).toEqual([]);
  });

  test.each([
    ...["127.0.0.1:80", "0x7f.1:80", "2130706433:80", "0177.0.0.1:80", "[::1]:80", "[::ffff:127.0.0.1]:80"],
    ...["user@a.example:443", "a.example", "a.example:0", "a.example.:443", "a.example:443/x", "*.example:1"],
  ])("rejects the target %s before anything is asked", async (target) => {
    const { port, asked } = await proxyTo(0);
    expect(await exchange(port, connectTo(target))).toMatch(/^HTTP\/1\.1 400 /);
    expect(asked).toEqual([]);
  });

  test("rejects a NUL in a host", async () => {
    const { port, asked } = await proxyTo(0);
    expect(await exchange(port, connectTo("evil.test\0.a.example:443"))).toMatch(/^HTTP\/1\.1 400 /);
    expect(asked).toEqual([]);
  });

  test("refuses a name that leads to a metadata service though it is allowed", async () => {
    const { port, events } = await proxyTo(0);
    const received = await exchange(port, connectTo("inside.example:80"));
    expect(received).toMatch(/^HTTP\/1\.1 403 .*x-proxy-error: private-address/s);
    expect(events).toMatchObject([{ outcome: "refused", code: "private-address" }]);
  });

  test("answers 502 for a host that is not found or not reached", async () => {
    const { port, events } = await proxyTo(1);
    expect(await exchange(port, connectTo("missing.example:443"))).toMatch(/^HTTP\/1\.1 502 .*unresolved/s);
    expect(await exchange(port, connectTo("a.example:443"))).toMatch(/^HTTP\/1\.1 502 .*unreachable/s);
    expect(events.map(({ outcome }) => outcome)).toEqual(["failed", "failed"]);
  });

  test("knows the command by its token, and refuses a token that is forged or over", async () => {
    const { port, asked, events } = await proxyTo(await shouting());
    await exchange(port, connectTo("a.example:443", basic("flint:secret")), "x");
    expect(asked).toEqual([{ host: "a.example", port: 443, command: "npm" }]);
    for (const header of [basic("flint:wrong"), basic("flint"), "proxy-authorization: Bearer secret\r\n"])
      expect(await exchange(port, connectTo("a.example:443", header))).toMatch(
        /^HTTP\/1\.1 403 .*unknown-command/s,
      );
    expect(asked).toHaveLength(1);
    expect(events.slice(1).map(({ code }) => code)).toEqual(Array(3).fill("unknown-command"));
  });

  test("lets nothing through if the decision fails", async () => {
    const { port } = await proxyTo(await shouting(), { decide: () => Promise.reject(new Error("broken")) });
    expect(await exchange(port, connectTo("a.example:443"))).toMatch(/^HTTP\/1\.1 403 /);
  });

  test("holds a connection while it is decided, and forgets one whose client left", async () => {
    const open: ((decision: Decision) => void)[] = [];
    let dialled = 0;
    const upstream = createServer((socket) => {
      dialled += 1;
      socket.end("late");
    });
    const decide = () => new Promise<Decision>((resolve) => open.push(resolve));
    const { port } = await proxyTo(await listening(upstream), { decide });
    const waits = exchange(port, connectTo("a.example:443"));
    await expect.poll(() => open.length).toBe(1);
    const leaving = connect(port, "127.0.0.1").on("error", () => undefined);
    leaving.write(connectTo("b.example:443"));
    await expect.poll(() => open.length).toBe(2);
    leaving.end();
    await new Promise((resolve) => leaving.once("close", resolve));
    for (const decideNow of open) decideNow(ALLOW);
    expect(await waits).toMatch(/late$/);
    expect(dialled).toBeLessThanOrEqual(2);
  });
});

describe("plain HTTP", () => {
  /** A web server that records requests and echoes their bodies. */
  async function web() {
    const requests: Pick<IncomingMessage, "method" | "url" | "headers">[] = [];
    const port = await listening(
      createHttpServer((message, response) => {
        requests.push({ method: message.method, url: message.url, headers: message.headers });
        response.setHeader("set-cookie", ["a=1", "b=2"]);
        response.setHeader("x-proxy-error", "forged");
        message.pipe(response);
      }),
    );
    return { port, requests };
  }

  test("is forwarded with the host that was decided about, without what concerns the proxy", async () => {
    const { port: upstream, requests } = await web();
    const { port, events } = await proxyTo(upstream);
    const headers = `${basic("flint:secret")}proxy-connection: keep-alive\r\nconnection: x-hop\r\nx-hop: 1\r\nx-kept: 2\r\n`;
    const received = await exchange(port, get("http://a.example:8080/path?q", headers));
    expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(received).toContain("set-cookie: a=1\r\nset-cookie: b=2\r\n");
    expect(received).not.toContain("forged");
    expect(requests).toEqual([
      {
        method: "GET",
        url: "/path?q",
        headers: { host: "a.example:8080", "x-kept": "2", connection: "close" },
      },
    ]);
    expect(events).toEqual([{ at: 0, host: "a.example", port: 8080, command: "npm", outcome: "allowed" }]);
  });

  test("carries a body", async () => {
    const { port } = await proxyTo((await web()).port);
    const head = "POST http://a.example/ HTTP/1.1\r\nhost: a.example\r\ncontent-length: 5\r\n\r\n";
    expect(await exchange(port, head, "hello")).toMatch(/hello/);
  });

  test("is refused with a sentence for people", async () => {
    const { port, resolved } = await proxyTo(0);
    const received = await exchange(port, get("http://denied.example/"));
    expect(received).toMatch(/^HTTP\/1\.1 403 .*x-proxy-error: declined.*refused the connection to denied/s);
    expect(resolved).toEqual([]);
  });

  test.each([
    ["/", "this is a proxy"],
    ["https://a.example/", "CONNECT"],
    ["ftp://a.example/", "ftp cannot go"],
    ["http://127.0.0.1/", "IP address"],
    ["http://user:x@a.example/", "user name"],
  ])("for %s is rejected", async (url, reason) => {
    const { port, asked } = await proxyTo(0);
    const received = await exchange(port, get(url));
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
    expect(received).toContain(reason);
    expect(asked).toEqual([]);
  });

  test.each([
    "HTTP/1.1 099 early\r\n\r\n",
    "HTTP/1.1 200 OK\r\nbad header: \u0000\r\n\r\n",
    "SSH-2.0-OpenSSH\r\n",
    "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
    "",
  ])("from a server that answers %j ends with 502", async (answer) => {
    const upstream = createServer((socket) => {
      socket.on("error", () => undefined).once("data", () => socket.end(answer, "latin1"));
    });
    const { port } = await proxyTo(await listening(upstream));
    expect(await exchange(port, get("http://a.example/"))).toMatch(/^HTTP\/1\.1 502 .*x-proxy-error/s);
  });

  test("does not pass on a status text that could not be written", async () => {
    const upstream = createServer((socket) => {
      socket.on("error", () => undefined).once("data", () => socket.end("HTTP/1.1 200 a\u0001b\r\n\r\nbody"));
    });
    const { port } = await proxyTo(await listening(upstream));
    expect(await exchange(port, get("http://a.example/"))).toMatch(/^HTTP\/1\.1 200 OK\r\n.*body/s);
  });

  test("is decided about for each request of a connection", async () => {
    const { port: upstream, requests } = await web();
    const { port, asked } = await proxyTo(upstream);
    await exchange(port, get("http://a.example/1") + get("http://denied.example/2"));
    expect(asked.map(({ host }) => host)).toEqual(["a.example", "denied.example"]);
    expect(requests).toHaveLength(1);
  });
});

describe("bounds", () => {
  test("refuses a head that is too long", async () => {
    const { port, asked } = await proxyTo(0);
    const received = await exchange(port, connectTo("a.example:443", `x: ${"y".repeat(20_000)}\r\n`));
    expect(received).toMatch(/^HTTP\/1\.1 431 /);
    expect(asked).toEqual([]);
  });

  test("survives malformed requests, and lets none of them through", async () => {
    const { port, asked } = await proxyTo(await shouting());
    const characters = "\0\t\r\n :/@[]%\u00ff\u007fCONNECTGEThttpHTTP1.0";
    let seed = 7;
    const next = (most: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % most;
    };
    const garbage = () =>
      Array.from({ length: next(60) }, () => characters[next(characters.length)]).join("");
    const requests = Array.from({ length: 300 }, () => [
      `${garbage()}\r\n\r\n`,
      `CONNECT ${garbage()} HTTP/1.1\r\n\r\n`,
      `GET http://${garbage()} HTTP/1.1\r\n${garbage()}\r\n\r\n`,
    ]).flat();
    for (let at = 0; at < requests.length; at += 50)
      await Promise.all(requests.slice(at, at + 50).map((text) => exchange(port, text, END)));
    expect(asked.filter(({ host }) => !/^[a-z0-9_.-]+$/.test(host))).toEqual([]);
    expect(await exchange(port, connectTo("a.example:443"), "hello")).toMatch(/HELLO$/);
  });

  test("throws nothing where the log does", async () => {
    const onEvent = () => {
      throw new Error("the log is full");
    };
    const { port } = await proxyTo(await shouting(), { onEvent });
    expect(await exchange(port, connectTo("a.example:443"), "hello")).toBe("");
  });

  test("cuts off a client that does not finish its head", async () => {
    const clock = new TestClock();
    const { port, listener } = await proxyTo(0, { clock });
    const accepted = new Promise((resolve) => listener.once("connection", resolve));
    const received = exchange(port, "CONNECT a.exa");
    await accepted;
    await clock.advance(10_000);
    expect(await received).toBe("");
  });

  test("cuts off a tunnel that is idle", async () => {
    const silent = await listening(createServer(() => undefined));
    const { port } = await proxyTo(silent, { limits: { idleMs: 50 } });
    expect(await exchange(port, connectTo("a.example:443"))).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("accepts few connections at a time", async () => {
    const { port, listener } = await proxyTo(0, { limits: { connections: 1 } });
    const accepted = new Promise((resolve) => listener.once("connection", resolve));
    const first = connect(port, "127.0.0.1");
    onTestFinished(() => void first.destroy());
    await accepted;
    expect(await exchange(port, connectTo("a.example:443"))).toBe("");
  });

  test("ends everything when it is disposed, also what waits for a decision", async () => {
    const sockets: Socket[] = [];
    const silent = await listening(createServer((socket) => void sockets.push(socket)));
    const decide = ({ host }: ConnectionRequest) =>
      host === "held.example" ? new Promise<Decision>(() => undefined) : Promise.resolve(ALLOW);
    const { proxy, port, listener } = await proxyTo(silent, { decide });
    const tunnel = exchange(port, connectTo("a.example:443"));
    const held = exchange(port, connectTo("held.example:443"));
    await expect.poll(() => sockets.length).toBe(1);
    const closed = new Promise((resolve) => listener.once("close", resolve));
    proxy.dispose();
    expect(await Promise.all([tunnel, held])).toEqual([expect.stringContaining("200"), ""]);
    await closed;
  });
});
