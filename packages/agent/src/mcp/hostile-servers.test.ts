import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import type { Clock, McpServerConfig, RunningProcess, Sandbox } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import { LIMITS } from "@flint/protocol";
import { leavesNoProcess, TestClock, temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { RESPONSE_TIMEOUT_MS } from "./connection.ts";
import { McpServers } from "./mcp-servers.ts";
import { fixtureServer } from "./testing/fixture.ts";
import { call, told, toolsOf } from "./testing/mcp-session.ts";

/** A sandbox that tells of each program it starts. */
class WatchedSandbox extends CommandSandbox implements Sandbox {
  readonly started: RunningProcess[] = [];
  onStart: (running: RunningProcess) => void = () => {};

  constructor() {
    super({ environment: process.env });
  }

  override async start(spec: Parameters<CommandSandbox["start"]>[0]): Promise<RunningProcess> {
    const running = await super.start(spec);
    this.started.push(running);
    this.onStart(running);
    return running;
  }
}

interface Opened {
  readonly servers: McpServers;
  readonly sandbox: WatchedSandbox;
}

async function open(configs: readonly McpServerConfig[], clock?: Clock): Promise<Opened> {
  leavesNoProcess();
  const { path } = await temporaryFolder();
  const sandbox = new WatchedSandbox();
  const servers = new McpServers(configs, { sandbox, cwd: path, ...(clock && { clock }) });
  onTestFinished(() => servers.close());
  return { servers, sandbox };
}

test("a server that never answers is given up after ten seconds, ended, and tried again later, each time later still", async () => {
  const clock = new TestClock();
  const { servers, sandbox } = await open([fixtureServer("mute", "silent")], clock);
  const error = "It did not answer within 10 seconds. It said: up";
  for (const pause of [30_000, 60_000]) {
    const count = sandbox.started.length;
    const up = new Promise((resolve) => {
      sandbox.onStart = ({ stderr }) => resolve(once(stderr, "data"));
    });
    const listing = toolsOf(servers);
    await up;
    await clock.advance(RESPONSE_TIMEOUT_MS);
    expect((await listing).size).toBe(0);
    expect(servers.statuses()).toEqual([{ name: "mute", status: "failed", error }]);
    expect(await sandbox.started.at(-1)?.exited).toBeDefined();
    await clock.advance(pause - 1);
    await toolsOf(servers);
    expect(sandbox.started.length).toBe(count + 1);
    await clock.advance(1);
  }
});

test("a server that dies at once fails with its last words and without its secrets, and the others work", async () => {
  const dying = fixtureServer("dying", "dies", { FIXTURE_TOKEN: "postgres://me:sesame@host" });
  const { servers } = await open([dying, fixtureServer("notes")]);
  expect(told(await call(servers, "mcp__notes__echo", { text: "hi" }))).toBe("echo: hi");
  expect(servers.statuses()).toEqual([
    { name: "dying", status: "failed", error: "It ended with exit code 7. It said: no database at [hidden]" },
    { name: "notes", status: "ready" },
  ]);
});

test("a server that worked again is not made to pay for its earlier failures", async () => {
  const clock = new TestClock();
  const folder = await temporaryFolder();
  const gate = folder.join("gate");
  const { servers } = await open([fixtureServer("gated", "gated", { FIXTURE_GATE: gate })], clock);
  for (const pause of [30_000, 60_000]) {
    expect((await toolsOf(servers)).size).toBe(0);
    await clock.advance(pause);
  }
  writeFileSync(gate, "");
  await call(servers, "mcp__gated__crashes");
  rmSync(gate);
  expect((await toolsOf(servers)).size).toBe(0);
  writeFileSync(gate, "");
  await clock.advance(30_000);
  expect((await toolsOf(servers)).size).toBeGreaterThan(0);
});

test("a program that is not there fails with its name", async () => {
  const absent = { ...fixtureServer("absent"), command: "no-such-program-here" };
  const { servers } = await open([absent]);
  await toolsOf(servers);
  expect(servers.statuses()).toMatchObject([
    { status: "failed", error: expect.stringContaining("no-such-program-here") },
  ]);
});

test("a server that prints whatever it likes is still understood", async () => {
  const { servers } = await open([fixtureServer("chatty", "garbage")]);
  expect(told(await call(servers, "mcp__chatty__echo", { text: "hi" }))).toBe("echo: hi");
  expect(servers.statuses()).toEqual([{ name: "chatty", status: "ready" }]);
});

test("of ten thousand tools the first are used, and that is said", async () => {
  const { servers } = await open([fixtureServer("many", "manyTools")]);
  expect([...(await toolsOf(servers)).keys()].filter((name) => name.startsWith("mcp__"))).toHaveLength(200);
  expect(servers.statuses()).toEqual([
    {
      name: "many",
      status: "ready",
      error: "It offers more tools than are taken from one server; the first 200 are used.",
    },
  ]);
});

test("a description of fifty megabytes is not read, and the server fails at once with the reason", async () => {
  const { servers } = await open([fixtureServer("wordy", "longDescription")], new TestClock());
  expect((await toolsOf(servers)).size).toBe(0);
  expect(servers.statuses()).toEqual([
    {
      name: "wordy",
      status: "failed",
      error: expect.stringMatching(
        `^It sent a message of 524\\d{5} bytes; at most ${LIMITS.line} are read. It said: up$`,
      ),
    },
  ]);
});

test("an answer of fifty megabytes fails its call, and the next one works", async () => {
  const { servers } = await open([fixtureServer("notes")], new TestClock());
  const flooded = await call(servers, "mcp__notes__floods", { characters: 50 * 1024 * 1024 });
  expect(flooded.item).toMatchObject({ status: "failed", error: expect.stringContaining("at most") });
  expect(told(await call(servers, "mcp__notes__echo", { text: "hi" }))).toBe("echo: hi");
});

test("of a list with nonsense in it the good tools are used", async () => {
  const { servers } = await open([fixtureServer("odd", "oddTools")]);
  const tools = await toolsOf(servers);
  expect([...tools.keys()].filter((name) => name.startsWith("mcp__"))).toEqual(["mcp__odd__good"]);
  expect(tools.get("mcp__odd__good")).toMatchObject({
    description: "ok \ufffd",
    parameters: { type: "object" },
  });
  expect(servers.statuses()).toMatchObject([
    { status: "ready", error: expect.stringMatching(/^5 of its tools are/) },
  ]);
});

test("two servers of one name are one, the later", async () => {
  const { servers } = await open([fixtureServer("notes", "dies"), fixtureServer("notes")]);
  await toolsOf(servers);
  expect(servers.statuses()).toEqual([{ name: "notes", status: "ready" }]);
});
