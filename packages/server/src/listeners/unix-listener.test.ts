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
import { Guests } from "./guests.ts";
import { BrokenDoor, stderrOf } from "./testing/broken-door.ts";
import { HELLO, OpenServer } from "./testing/open-server.ts";
import { bindPrivately, UnixListener } from "./unix-listener.ts";

async function guestsOf() {
  const folder = await temporaryFolder();
  const clock = new TestClock();
  return { folder, clock, guests: new Guests(new Frontends(testEngine().engine), clock) };
}

async function guestsOfBrokenDoor() {
  const folder = await temporaryFolder();
  const broken = new BrokenDoor();
  const frontends = new Frontends(testEngine().engine, {}, broken.load);
  return { folder, broken, guests: new Guests(frontends, new TestClock()), said: stderrOf(onTestFinished) };
}

async function open() {
  const { path: folder } = await temporaryFolder();
  const clock = new TestClock();
  const { engine } = testEngine();
  return { server: await OpenServer.start({ engine, folder, clock, atEnd: onTestFinished }), clock };
}

describe("a unix socket", () => {
  test("is for its user alone, and so is a folder that is made for it [P30]", async () => {
    const { folder, guests } = await guestsOf();
    const before = process.umask(0o022);
    onTestFinished(() => void process.umask(before));
    const path = folder.join("made", "flint.sock");
    const listener = await UnixListener.start({ path, door: "flint", guests });
    expect([statSync(path).mode & 0o777, statSync(folder.join("made")).mode & 0o777]).toEqual([0o600, 0o700]);
    await listener.close();
    expect(readdirSync(folder.join("made"))).toEqual([]);
  });

  test("is for its user alone from the moment it is there, and the umask is what it was", async () => {
    const folder = await temporaryFolder();
    const before = process.umask(0o000);
    onTestFinished(() => void process.umask(before));
    const path = folder.join("flint.sock");
    const starting = bindPrivately(path);
    // Only microtasks: nothing that waits for the system goes on in between.
    for (let turn = 0; turn < 100 && !existsSync(path); turn += 1) await Promise.resolve();
    const mode = statSync(path).mode & 0o777;
    (await starting).close();
    expect([mode, process.umask(0o000)]).toEqual([0o600, 0o000]);
  });

  test("ends a client whose door cannot be loaded, and tries it again for the next one", async () => {
    const { folder, guests, broken, said } = await guestsOfBrokenDoor();
    const path = folder.join("flint.sock");
    const listener = await UnixListener.start({ path, door: "flint", guests });
    const meeting = await UnixListener.start({ path: folder.join("meet.sock"), door: "chosen", guests });
    onTestFinished(async () => {
      await Promise.all([listener.close(), meeting.close(), guests.close()]);
    });
    const asked = async (at: string, line: string): Promise<unknown> => {
      const socket = connect({ path: at });
      socket.write(line);
      const answer = await text(socket);
      socket.destroy();
      return answer === "" ? "" : JSON.parse(answer.split("\n")[0] ?? "");
    };
    expect(await asked(path, "")).toBe("");
    const refusal = { ok: false, reason: expect.stringContaining("flint door cannot be opened") };
    expect(await asked(folder.join("meet.sock"), '{"protocol":"flint"}\n')).toEqual(refusal);
    expect(said()).toContain("flint: the flint door cannot be opened: half of it is missing\n");
    broken.mend();
    const socket = connect({ path });
    socket.end(HELLO);
    expect(JSON.parse(await text(socket))).toMatchObject({ id: 1, result: {} });
  });

  test("answers what was asked before the client closed its half", async () => {
    const { server } = await open();
    const socket = await server.socket();
    socket.end(HELLO);
    expect(JSON.parse(await text(socket))).toMatchObject({ id: 1, result: {} });
  });

  test("replaces what a dead server left, but neither a living one nor another file", async () => {
    const { folder, guests } = await guestsOf();
    const path = folder.join("flint.sock");
    const start = () => UnixListener.start({ path, door: "flint", guests });
    // A socket that outlives its server, as after a crash.
    const dead = createServer().listen(folder.join("dead.sock"));
    await new Promise((resolve) => dead.once("listening", resolve));
    symlinkSync("nowhere", path);
    await expect(start()).rejects.toThrow("is no socket");
    rmSync(path);
    renameSync(folder.join("dead.sock"), path);
    await new Promise((resolve) => dead.close(resolve));
    expect(existsSync(path)).toBe(true);
    const listener = await start();
    onTestFinished(() => listener.close());
    await expect(start()).rejects.toThrow("Another program listens at");
    writeFileSync(folder.join("file"), "precious");
    const file = { path: folder.join("file"), door: "flint", guests } as const;
    await expect(UnixListener.start(file)).rejects.toThrow("is no socket");
  });

  test("that others cannot reach by mode is not reached by them", async () => {
    const { server } = await open();
    chmodSync(server.socketPath, 0o000);
    const isRoot = process.getuid?.() === 0;
    const attempt = server.socket();
    // Nobody keeps root out.
    if (isRoot) await attempt;
    else await expect(attempt).rejects.toThrow("EACCES");
  });

  test("lets go of a client that says nothing, and of none that greeted", async () => {
    const { server, clock } = await open();
    const silent = await server.socket();
    const gone = new Promise((resolve) => silent.once("close", resolve));
    const socket = await server.socket();
    const client = WireClient.over(socket, socket);
    await client.request("initialize", { clientInfo: { name: "test", version: "1" } });
    silent.resume();
    while (server.listening.size < 2) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(LIMITS.greetingMilliseconds);
    await gone;
    expect(await client.request("thread/list", {})).toMatchObject({ data: [] });
  });
});

describe("the meeting socket", () => {
  async function meeting() {
    const { folder, guests } = await guestsOf();
    const path = folder.join("meet.sock");
    const listener = await UnixListener.start({ path, door: "chosen", guests });
    onTestFinished(async () => {
      await listener.close();
      await guests.close();
    });
    const { server } = await open();
    return { socket: () => server.socket(path) };
  }

  test("opens the door that the first line names, whatever comes with it", async () => {
    const { socket } = await meeting();
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
    ['{"protocol":"kitchen"}\n', 'There is no door "kitchen"'],
    ['{"protocol":"__proto__"}\n', "There is no door"],
    ['{"protocol":7}\n', "Send one line such as"],
    ['{"protocol":"flint","cwd":"sub"}\n', 'with "cwd" only as an absolute path'],
    [HELLO, "Send one line such as"],
    ["\n", "Send one line such as"],
    ["GET / HTTP/1.1\r\n\r\n", "Send one line such as"],
  ])("says to %j what is wrong, and ends", async (first, reason) => {
    const { socket } = await meeting();
    const client = await socket();
    client.write(first);
    const answer = JSON.parse(await text(client));
    expect(answer).toMatchObject({ ok: false, reason: expect.stringContaining(reason) });
  });

  // Sooner than by the time that a newcomer has for its first line.
  test("ends at once with a first line that has no end", { timeout: 8_000 }, async () => {
    const { socket } = await meeting();
    const client = await socket();
    client.on("error", () => undefined);
    client.write("x".repeat(40_000));
    const closed = new Promise((resolve) => client.once("close", resolve));
    client.resume();
    await closed;
  });
});
