import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync, statSync } from "node:fs";
import { connect as connectSocket } from "node:net";
import { connect, readRunningServer } from "@flint/sdk";
import { needs, WireClient } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { plainEnvironment } from "../server/plain-environment.ts";
import { rejectOnExit, ServerFixture, serverInfo, until } from "./listening-server.ts";
import { asMessage, FLINT, initialize, runTurn, startThread } from "./server.ts";

// Each of these starts several processes, and the machine may be busy with others.
const TIMEOUT_MS = 90_000;

const INITIALIZE = '{"id":1,"method":"initialize","params":{"clientInfo":{"name":"e2e","version":"1"}}}\n';

describe("flint serve --listen", { timeout: TIMEOUT_MS }, () => {
  test("serves over a WebSocket and a unix socket, prints their addresses, and cleans up [P28, P30]", async () => {
    const fixture = await ServerFixture.make();
    const path = `${fixture.home}/custom.sock`;
    const { wire, addresses } = await fixture.listening([
      "--listen",
      "ws://127.0.0.1:0",
      "--listen",
      `unix:${path}`,
    ]);
    const [url = "", unix] = addresses;
    expect([unix, statSync(path).mode & 0o777]).toEqual([`unix:${path}`, 0o600]);
    const token = readFileSync(`${fixture.home}/run/token`, "utf8").trim();
    expect([statSync(`${fixture.home}/run/token`).mode & 0o777, wire.stderr.includes(token)]).toEqual([
      0o600,
      false,
    ]);

    const client = await fixture.client(url);
    const thread = await client.startThread({});
    const socket = connectSocket({ path });
    onTestFinished(() => void socket.destroy());
    const second = WireClient.over(socket, socket);
    await initialize(second);
    await second.request("thread/attach", { threadId: thread.id });
    const result = await thread.run("hello");
    expect(result.status).toBe("completed");
    await second.waitForMethod("turn/completed");

    wire.kill("SIGTERM");
    expect(await wire.exited).toEqual({ code: 0, signal: null });
    expect(readdirSync(`${fixture.home}/run`).filter((name) => /sock|json$/.test(name))).toEqual([]);
  });

  test("keeps running if its stderr cannot be written", async () => {
    const { home, workspace } = await ServerFixture.make();
    const full = openSync("/dev/full", "w");
    onTestFinished(() => closeSync(full));
    const args = [FLINT, "serve", "--listen", "ws://127.0.0.1:0"];
    const env = { ...process.env, ...plainEnvironment(home) };
    const server = spawn(process.execPath, args, { cwd: workspace, env, stdio: ["ignore", "ignore", full] });
    onTestFinished(() => void server.kill("SIGKILL"));
    const exited = once(server, "exit");
    await Promise.race([until(() => readRunningServer(home) !== undefined), exited]);
    const client = await connect({ home });
    onTestFinished(() => client.close());
    expect((await (await client.startThread({})).run("hello")).status).toBe("completed");
    server.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  });

  test("a turn outlives its client, and is stopped and recorded with the server [P26]", async () => {
    const fixture = await ServerFixture.make();
    const { wire, addresses } = await fixture.listening([
      "--listen",
      "ws://127.0.0.1:0",
      "--approval",
      "always",
    ]);
    const [url = ""] = addresses;
    const client = await fixture.client(url);
    const thread = await client.startThread({});
    void thread.run("run `echo hi`").catch(() => undefined);
    await until(() => thread.state.approvals.length > 0);
    await client.close();
    const other = await fixture.client(url);
    const seen = await other.attachThread(thread.id);
    await until(() => seen.state.approvals.length > 0);
    wire.kill("SIGTERM");
    await until(() => seen.state.turns.at(-1)?.status === "interrupted");
    expect((await wire.exited).code).toBe(0);
  });

  test("rejects listeners that would be open to others, with the reason [P28]", async () => {
    const fixture = await ServerFixture.make();
    const open = await fixture.run(["serve", "--listen", "ws://0.0.0.0:0", "--no-token"]);
    expect([open.code, open.err]).toEqual([2, expect.stringContaining("could run commands as you")]);
    expect((await fixture.run(["serve", "--listen", "4747"])).code).toBe(2);
    expect((await fixture.run(["serve", "--protocol", "kitchen"])).err).toContain("--protocol must be flint");
  });

  needs("namespaces")(
    "hides its own socket from commands, also if it is in their workspace",
    async () => {
      const fixture = await ServerFixture.make();
      const path = `${fixture.workspace}/flint.sock`;
      await fixture.listening(["--listen", `unix:${path}`]);
      const socket = connectSocket({ path });
      onTestFinished(() => void socket.destroy());
      const client = WireClient.over(socket, socket);
      await initialize(client);
      const source = `require("net").connect(process.argv[1])
        .on("connect", () => { console.log("in"); process.exit(); })
        .on("error", () => console.log("out"))`;
      const ran = await client.request("command/exec", {
        command: [process.execPath, "-e", source, path],
        cwd: fixture.workspace,
        sandboxPolicy: { type: "workspaceWrite", networkAccess: true },
      });
      expect(ran).toMatchObject({ exitCode: 0, stdout: "out\n" });
    },
    TIMEOUT_MS,
  );

  test("warns about running without a token, and prints the command that starts the Codex TUI", async () => {
    const fixture = await ServerFixture.make();
    const wire = fixture.wire(["serve", "--listen", "ws://127.0.0.1:0", "--no-token", "--alone"]);
    await Promise.race([until(() => wire.stderr.split("\n").length > 3), rejectOnExit(wire)]);
    const [listening = "", codex = "", warning = ""] = wire.stderr.split("\n");
    const url = /ws:\/\/127\.0\.0\.1:\d+/.exec(listening)?.[0];
    expect(codex).toBe(`codex --remote ${url} --sandbox workspace-write`);
    expect(warning).toContain("can act as you, including agents and commands with network access");
  });

  test("is the only server of its state folder; a second one explains how to join it", async () => {
    const fixture = await ServerFixture.make();
    const { wire } = await fixture.listening(["--listen", "ws://127.0.0.1:0"]);
    const second = await fixture.run(["serve", "--listen", "ws://127.0.0.1:0"]);
    expect([second.code, second.err]).toEqual([1, expect.stringContaining(`process ${wire.pid}`)]);
    expect(second.err).toContain("flint connect");
  });
});

describe("flint connect", { timeout: TIMEOUT_MS }, () => {
  test("bridges stdio to the running server, over its socket or a URL", async () => {
    const fixture = await ServerFixture.make();
    const { wire, addresses } = await fixture.listening(["--listen", "ws://127.0.0.1:0"]);
    const here = await fixture.run(["connect"], INITIALIZE);
    expect([here.code, JSON.parse(here.out)]).toEqual([0, expect.objectContaining({ id: 1 })]);
    const remote = fixture.wire(["connect", "--protocol", "flint", "--url", String(addresses[0])]);
    await initialize(remote);
    const threadId = await startThread(remote);
    expect(threadId).not.toBe("");
    wire.kill("SIGTERM");
    expect(await remote.exited).toMatchObject({ code: 1 });
    expect(remote.stderr).toContain("The server closed the connection.");
  });

  test("explains how to start a server if none runs, also if one was killed", async () => {
    const fixture = await ServerFixture.make();
    const none = await fixture.run(["connect"], INITIALIZE);
    expect([none.code, none.err]).toEqual([1, expect.stringContaining("flint serve --listen")]);
    const { wire } = await fixture.listening(["--listen", "ws://127.0.0.1:0"]);
    wire.kill("SIGKILL");
    await wire.exited;
    const dead = await fixture.run(["connect"], INITIALIZE);
    expect([dead.code, dead.err]).toEqual([1, expect.stringContaining("does not answer")]);
    const next = await fixture.listening(["--listen", "ws://127.0.0.1:0"]);
    expect((await serverInfo(fixture)).pid).toBe(next.wire.pid);
  });
});

describe("flint serve --stdio", { timeout: TIMEOUT_MS }, () => {
  test("joins the running server, so that two clients share one live thread", async () => {
    const fixture = await ServerFixture.make();
    const first = fixture.wire(["serve", "--stdio"]);
    await initialize(first);
    expect((await serverInfo(fixture)).pid).toBe(first.pid);
    const threadId = await startThread(first);
    const second = fixture.wire(["serve", "--stdio"]);
    await initialize(second);
    await second.request("thread/attach", { threadId });
    await runTurn(first, threadId, "hello");
    await second.waitForMethod("turn/completed");
    // The first client leaves; the server stays as long as the second is there.
    first.end();
    await runTurn(second, threadId, "hello again");
    second.end();
    expect([await second.exited, await first.exited]).toMatchObject([{ code: 0 }, { code: 0 }]);
    expect(readdirSync(`${fixture.home}/run`).filter((name) => /sock|json$/.test(name))).toEqual([]);
  });

  test("is a separate server with --alone, or with options of its own", async () => {
    const fixture = await ServerFixture.make();
    const first = fixture.wire(["serve", "--stdio"]);
    await initialize(first);
    await serverInfo(fixture);
    const threadId = await startThread(first);
    await runTurn(first, threadId, "hello");
    const others = [
      fixture.wire(["serve", "--stdio", "--alone"]),
      fixture.wire(["serve", "--stdio", "--sandbox", "read-only"]),
    ];
    for (const other of others) {
      await initialize(other);
      // One of its own cannot have the thread that the first one writes.
      await expect(other.request("thread/resume", { threadId })).rejects.toMatchObject({ code: -32007 });
    }
    expect(asMessage(await first.request("thread/list", {})).data).toHaveLength(1);
  });

  test("takes over from a server that was killed", async () => {
    const fixture = await ServerFixture.make();
    const first = fixture.wire(["serve", "--stdio"]);
    await initialize(first);
    await serverInfo(fixture);
    first.kill("SIGKILL");
    await first.exited;
    const second = fixture.wire(["serve", "--stdio"]);
    await initialize(second);
    await until(() =>
      readFileSync(`${fixture.home}/run/server.json`, "utf8").includes(`"pid":${second.pid},`),
    );
    second.end();
    expect((await second.exited).code).toBe(0);
  });
});
