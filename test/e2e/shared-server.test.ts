import { mkdirSync, readFileSync, statSync } from "node:fs";
import { connect } from "@flint/sdk";
import { descendantsOf, isAlive, type WireClient, waitForExit } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { ServerFixture, serverInfo, until } from "./listening-server.ts";
import { asMessage, initialize, startThread } from "./server.ts";

// Each of these starts several processes, and the machine may be busy with others.
const TIMEOUT_MS = 120_000;

/** Starts a command so many times at the same moment. */
function atOnce(count: number, start: () => WireClient): WireClient[] {
  return Array.from({ length: count }, start);
}

/** The threads that a client sees as live in its server. */
async function liveThreads(wire: WireClient): Promise<unknown[]> {
  const { data } = asMessage(await wire.request("thread/list", {}));
  if (!Array.isArray(data)) throw new Error("Not a list.");
  return data.filter((thread) => asMessage(asMessage(thread).status).type !== "notLoaded");
}

/** Stops, at the end of the test, a server that outlives the client that started it. */
async function backgroundServer(fixture: ServerFixture): Promise<number> {
  const { pid } = await serverInfo(fixture);
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, "SIGKILL");
  });
  return pid;
}

describe("servers that are started at the same time for one state folder", { timeout: TIMEOUT_MS }, () => {
  test.each([2, 5])(
    "%i on stdio: one of them becomes the server, and all clients share it",
    async (count) => {
      const fixture = await ServerFixture.make();
      const wires = atOnce(count, () => fixture.wire(["serve", "--stdio"]));
      await Promise.all(wires.map(initialize));
      expect(wires.map(({ pid }) => pid)).toContain((await serverInfo(fixture)).pid);
      const [first] = wires;
      if (first === undefined) throw new Error("None was started.");
      await startThread(first);
      for (const wire of wires) expect(await liveThreads(wire)).toHaveLength(1);
      expect(wires.map(({ stderr }) => stderr).join("")).toBe("");
    },
  );

  test.each([2, 5])("%i with listeners: one of them listens, the others name it", async (count) => {
    const fixture = await ServerFixture.make();
    const wires = atOnce(count, () => fixture.wire(["serve", "--json", "--listen", "ws://127.0.0.1:0"]));
    const { pid } = await serverInfo(fixture);
    const others = wires.filter((wire) => wire.pid !== pid);
    expect(others).toHaveLength(count - 1);
    for (const other of others) {
      expect(await other.exited).toMatchObject({ code: 1 });
      // A process that has only just taken the lock is not named yet.
      const [, named = pid] = /already running for \S+ \(process (\d+)\)/.exec(other.stderr) ?? [];
      expect(other.stderr).toContain(`A server is already running for ${fixture.home}`);
      expect(Number(named)).toBe(pid);
      expect(other.stderr).not.toContain("listening");
    }
  });

  test("in the background, by five clients: they share one server, and the other four exit", async () => {
    const fixture = await ServerFixture.make();
    const wires = atOnce(5, () => fixture.wire(["connect", "--start"]));
    await Promise.all(wires.map(initialize));
    const server = await backgroundServer(fixture);
    // Each client has started one by now, unless it found one.
    const started = wires.flatMap(({ pid }) => (pid === undefined ? [] : descendantsOf(pid)));
    await waitForExit(
      started.filter(({ pid }) => pid !== server),
      60_000,
    );
    const [first] = wires;
    if (first === undefined) throw new Error("None was started.");
    await startThread(first);
    for (const wire of wires) expect(await liveThreads(wire)).toHaveLength(1);
  });
});

describe("flint connect --start", { timeout: TIMEOUT_MS }, () => {
  test("starts a server that outlives its client, with a log that only its user can read", async () => {
    const fixture = await ServerFixture.make();
    const first = fixture.wire(["connect", "--start"]);
    await initialize(first);
    const pid = await backgroundServer(fixture);
    const threadId = await startThread(first);
    first.end();
    expect(await first.exited).toMatchObject({ code: 0 });
    expect(statSync(`${fixture.home}/run/server.log`).mode & 0o777).toBe(0o600);
    expect(readFileSync(`${fixture.home}/run/server.log`, "utf8")).toContain("join this server");
    const second = fixture.wire(["connect", "--start"]);
    await initialize(second);
    await second.request("thread/attach", { threadId });
    expect((await serverInfo(fixture)).pid).toBe(pid);
  });

  test("starts a server that exits once no client has been connected for the idle time", async () => {
    const fixture = await ServerFixture.make();
    const client = fixture.wire(["connect", "--start", "--idle-exit", "0.2"]);
    await initialize(client);
    const pid = await backgroundServer(fixture);
    expect(await liveThreads(client)).toEqual([]);
    client.end();
    await client.exited;
    await until(() => !isAlive(pid));
  });

  test("reports the server's own error if it cannot start, and which flags conflict", async () => {
    const fixture = await ServerFixture.make();
    mkdirSync(fixture.home, { recursive: true });
    // A folder where the socket has to be.
    mkdirSync(`${fixture.home}/run/server.sock`, { recursive: true, mode: 0o700 });
    const failed = await fixture.run(["connect", "--start"]);
    expect([failed.code, failed.err]).toEqual([1, expect.stringContaining("is not a socket")]);
    const url = await fixture.run(["connect", "--start", "--url", "ws://127.0.0.1:1"]);
    expect([url.code, url.err]).toEqual([2, expect.stringContaining("--url")]);
    const web = await fixture.run(["connect", "--url", "http://127.0.0.1:1"]);
    expect([web.code, web.err]).toEqual([
      2,
      expect.stringContaining("--url must start with ws:// or wss://"),
    ]);
    expect((await fixture.run(["serve", "--listen", "local", "--alone"])).err).toContain(
      "no client could connect",
    );
  });
});

describe("a client from another folder", { timeout: TIMEOUT_MS }, () => {
  test("joins the running server, and works in its own folder if it names none", async () => {
    const fixture = await ServerFixture.make();
    const { wire: server } = await fixture.listening(["--listen", "local"]);
    const [one, two] = [`${fixture.workspace}/one`, `${fixture.workspace}/two`];
    for (const folder of [one, two]) mkdirSync(folder);
    const clients = [fixture.wire(["serve", "--stdio"], one), fixture.wire(["connect"], two)];
    const folders: unknown[] = [];
    for (const client of clients) {
      await initialize(client);
      const { thread } = asMessage(await client.request("thread/start", {}));
      const { cwd } = asMessage(await client.request("config/read", {}));
      const { stdout } = asMessage(
        await client.request("command/exec", { command: ["pwd"], sandboxPolicy: { type: "readOnly" } }),
      );
      folders.push([asMessage(thread).cwd, cwd, stdout]);
    }
    expect(folders).toEqual([one, two].map((folder) => [folder, folder, `${folder}\n`]));
    expect((await serverInfo(fixture)).pid).toBe(server.pid);
  });

  test("may be a program that connects by the state folder", async () => {
    const fixture = await ServerFixture.make();
    await fixture.listening(["--listen", "local"]);
    const client = await connect({ home: fixture.home, cwd: fixture.home });
    onTestFinished(() => client.close());
    expect((await client.startThread({})).state.thread.cwd).toBe(fixture.home);
  });
});
