import {
  chmodSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { LIMITS } from "@flint/protocol";
import { TestClock, temporaryFolder, testEngine, WireClient } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { Frontends } from "../frontends.ts";
import { BrokenFrontends, HELLO, OpenServer, stderrOf } from "../serve/testing/open-server.ts";
import { Clients } from "./clients.ts";
import { listenPrivately, UnixListener } from "./unix-listener.ts";

async function clientsOf() {
  const folder = await temporaryFolder();
  const clock = new TestClock();
  return { folder, clock, clients: new Clients(new Frontends(testEngine().engine), clock) };
}

async function clientsOfBrokenListener() {
  const folder = await temporaryFolder();
  const broken = new BrokenFrontends();
  const frontends = new Frontends(testEngine().engine, {}, broken.load);
  return { folder, broken, clients: new Clients(frontends, new TestClock()), said: stderrOf(onTestFinished) };
}

async function open() {
  const { path: folder } = await temporaryFolder();
  const clock = new TestClock();
  const { engine } = testEngine();
  return { server: await OpenServer.start({ engine, folder, clock, atEnd: onTestFinished }), clock };
}

describe("a unix socket", () => {
  test("is private, like the folder created for it [P30]", async () => {
    const { folder, clients } = await clientsOf();
    const before = process.umask(0o022);
    onTestFinished(() => void process.umask(before));
    const path = folder.join("made", "flint.sock");
    const listener = await UnixListener.start({ path, protocol: "flint", clients });
    expect([statSync(path).mode & 0o777, statSync(folder.join("made")).mode & 0o777]).toEqual([0o600, 0o700]);
    await listener.close();
    expect(readdirSync(folder.join("made"))).toEqual([]);
  });

  test("is private from its creation, and the umask is restored", async () => {
    const folder = await temporaryFolder();
    const before = process.umask(0o000);
    onTestFinished(() => void process.umask(before));
    const path = folder.join("flint.sock");
    const starting = listenPrivately(path);
    // Only microtasks: nothing that waits for the system runs in between.
    for (let turn = 0; turn < 100 && !existsSync(path); turn += 1) await Promise.resolve();
    const mode = statSync(path).mode & 0o777;
    (await starting).close();
    expect([mode, process.umask(0o000)]).toEqual([0o600, 0o000]);
  });

  test("closes a client whose front end cannot be loaded, and retries for the next one", async () => {
    const { folder, clients, broken, said } = await clientsOfBrokenListener();
    const path = folder.join("flint.sock");
    const listener = await UnixListener.start({ path, protocol: "flint", clients });
    const rendezvous = await UnixListener.start({
      path: folder.join("rendezvous.sock"),
      protocol: "chosen",
      clients,
    });
    onTestFinished(async () => {
      await Promise.all([listener.close(), rendezvous.close(), clients.close()]);
    });
    const asked = async (at: string, line: string): Promise<unknown> => {
      const socket = connect({ path: at });
      socket.write(line);
      const answer = await text(socket);
      socket.destroy();
      return answer === "" ? "" : JSON.parse(answer.split("\n")[0] ?? "");
    };
    expect(await asked(path, "")).toBe("");
    const refusal = { ok: false, reason: expect.stringContaining("Cannot load the flint front end") };
    expect(await asked(folder.join("rendezvous.sock"), '{"protocol":"flint"}\n')).toEqual(refusal);
    expect(said()).toContain("flint: Cannot load the flint front end: half of it is missing\n");
    broken.repair();
    const socket = connect({ path });
    socket.end(HELLO);
    expect(JSON.parse(await text(socket))).toMatchObject({ id: 1, result: {} });
  });

  test("answers requests that were sent before the client closed its half", async () => {
    const { server } = await open();
    const socket = await server.socket();
    socket.end(HELLO);
    expect(JSON.parse(await text(socket))).toMatchObject({ id: 1, result: {} });
  });

  test("replaces the socket of a dead server, but not a live one or another file", async () => {
    const { folder, clients } = await clientsOf();
    const path = folder.join("flint.sock");
    const start = () => UnixListener.start({ path, protocol: "flint", clients });
    // A socket that outlives its server, as after a crash.
    const dead = createServer().listen(folder.join("dead.sock"));
    await new Promise((resolve) => dead.once("listening", resolve));
    symlinkSync("nowhere", path);
    await expect(start()).rejects.toThrow("is not a socket");
    rmSync(path);
    renameSync(folder.join("dead.sock"), path);
    await new Promise((resolve) => dead.close(resolve));
    expect(existsSync(path)).toBe(true);
    const listener = await start();
    onTestFinished(() => listener.close());
    await expect(start()).rejects.toThrow("Another program is listening at");
    writeFileSync(folder.join("file"), "precious");
    const file = { path: folder.join("file"), protocol: "flint", clients } as const;
    await expect(UnixListener.start(file)).rejects.toThrow("is not a socket");
  });

  test("cannot be reached by other users", async () => {
    const { server } = await open();
    chmodSync(server.socketPath, 0o000);
    const isRoot = process.getuid?.() === 0;
    const attempt = server.socket();
    // Root can reach every socket.
    if (isRoot) await attempt;
    else await expect(attempt).rejects.toThrow("EACCES");
  });

  test("closes a client that sends nothing, but not one that sent initialize", async () => {
    const { server, clock } = await open();
    const silent = await server.socket();
    const gone = new Promise((resolve) => silent.once("close", resolve));
    const socket = await server.socket();
    const client = WireClient.over(socket, socket);
    await client.request("initialize", { clientInfo: { name: "test", version: "1" } });
    silent.resume();
    while (server.listening.size < 2) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(LIMITS.initializeMilliseconds);
    await gone;
    expect(await client.request("thread/list", {})).toMatchObject({ data: [] });
  });
});

describe("the rendezvous socket", () => {
  async function rendezvous() {
    const { folder, clients } = await clientsOf();
    const path = folder.join("rendezvous.sock");
    const listener = await UnixListener.start({ path, protocol: "chosen", clients });
    onTestFinished(async () => {
      await listener.close();
      await clients.close();
    });
    const { server } = await open();
    return { socket: () => server.socket(path) };
  }

  test("serves the protocol that the first line names, and what follows it", async () => {
    const { socket } = await rendezvous();
    const flint = await socket();
    flint.end(`{"protocol":"flint"}\n${HELLO}`);
    const [welcome, answer] = (await text(flint))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect([welcome, answer]).toMatchObject([{ ok: true }, { id: 1, result: {} }]);
    const harness = await socket();
    for (const piece of [
      '{"proto',
      'col":"harness"}',
      "\n",
      '{"jsonrpc":"2.0","id":7,"method":"initialize"}',
      "\n",
    ]) {
      await new Promise((resolve) => harness.write(piece, resolve));
    }
    harness.end();
    const [, second] = (await text(harness))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(second).toMatchObject({ jsonrpc: "2.0", id: 7 });
  });

  test.each([
    ['{"protocol":"kitchen"}\n', 'Unknown protocol "kitchen"'],
    ['{"protocol":"__proto__"}\n', "Unknown protocol"],
    ['{"protocol":7}\n', "Send a line such as"],
    ['{"protocol":"flint","cwd":"sub"}\n', '"cwd" must be an absolute path'],
    [HELLO, "Send a line such as"],
    ["\n", "Send a line such as"],
    ["GET / HTTP/1.1\r\n\r\n", "Send a line such as"],
  ])("rejects the first line %j with a reason", async (first, reason) => {
    const { socket } = await rendezvous();
    const client = await socket();
    client.write(first);
    const answer = JSON.parse(await text(client));
    expect(answer).toMatchObject({ ok: false, reason: expect.stringContaining(reason) });
  });

  // Sooner than by the time that a newcomer has for its first line.
  test("closes at once on a first line without an end", { timeout: 8_000 }, async () => {
    const { socket } = await rendezvous();
    const client = await socket();
    client.on("error", () => undefined);
    client.write("x".repeat(40_000));
    const closed = new Promise((resolve) => client.once("close", resolve));
    client.resume();
    await closed;
  });
});
