import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import type { Clock, McpServerConfig, RunningProcess, Sandbox } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import { LIMITS } from "@flint/protocol";
import { leavesNoProcess, TestClock, temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { RESPONSE_TIMEOUT_MS } from "./connection.ts";
import { McpServers } from "./mcp-servers.ts";
import { fixtureServer } from "./testing/http-server.ts";
import { call, textOf, toolsOf } from "./testing/mcp-session.ts";

/** A sandbox that reports each program it starts. */
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

test("stops a server that does not answer, and retries it with growing delays", async () => {
  const clock = new TestClock();
  const { servers, sandbox } = await open([fixtureServer("mute", "silent")], clock);
  const error = "It did not answer within 10 seconds. Its stderr: up";
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

test("fails a server that exits at once with its stderr and without its secrets", async () => {
  const dying = fixtureServer("dying", "dies", { FIXTURE_TOKEN: "postgres://me:sesame@host" });
  const { servers } = await open([dying, fixtureServer("notes")]);
  expect(textOf(await call(servers, "mcp__notes__echo", { text: "hi" }))).toBe("echo: hi");
  expect(servers.statuses()).toEqual([
    {
      name: "dying",
      status: "failed",
      error: expect.stringMatching(
        /^It exited with code 7\. Its stderr: no database at \[hidden\] .*mcp_servers\.dying\.writable/,
      ),
    },
    { name: "notes", status: "ready" },
  ]);
});

test("resets the retry delay after a server worked", async () => {
  const clock = new TestClock();
  const folder = await temporaryFolder();
  const gate = folder.join("gate");
  const gated = { ...fixtureServer("gated", "gated", { FIXTURE_GATE: gate }), writable: [folder.path] };
  const { servers } = await open([gated], clock);
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

test("fails with the name of a program that does not exist", async () => {
  const absent = { ...fixtureServer("absent"), command: "no-such-program-here" };
  const { servers } = await open([absent]);
  await toolsOf(servers);
  expect(servers.statuses()).toMatchObject([
    { status: "failed", error: expect.stringContaining("no-such-program-here") },
  ]);
});

test("ignores other output of a server", async () => {
  const { servers } = await open([fixtureServer("chatty", "garbage")]);
  expect(textOf(await call(servers, "mcp__chatty__echo", { text: "hi" }))).toBe("echo: hi");
  expect(servers.statuses()).toEqual([{ name: "chatty", status: "ready" }]);
});

test("uses the first of ten thousand tools and notes it", async () => {
  const { servers } = await open([fixtureServer("many", "manyTools")]);
  expect([...(await toolsOf(servers)).keys()].filter((name) => name.startsWith("mcp__"))).toHaveLength(200);
  expect(servers.statuses()).toEqual([
    {
      name: "many",
      status: "ready",
      error: "It has too many tools; the first 200 are used.",
    },
  ]);
});

test("fails a server at once that sends a description of fifty megabytes", async () => {
  const { servers } = await open([fixtureServer("wordy", "longDescription")], new TestClock());
  expect((await toolsOf(servers)).size).toBe(0);
  expect(servers.statuses()).toEqual([
    {
      name: "wordy",
      status: "failed",
      error: expect.stringMatching(
        `^It sent a message of 524\\d{5} bytes; the limit is ${LIMITS.line}. Its stderr: up$`,
      ),
    },
  ]);
});

test("fails a call whose result has fifty megabytes", async () => {
  const { servers } = await open([fixtureServer("notes")], new TestClock());
  const flooded = await call(servers, "mcp__notes__floods", { characters: 50 * 1024 * 1024 });
  expect(flooded.item).toMatchObject({ status: "failed", error: expect.stringContaining("the limit is") });
  expect(textOf(await call(servers, "mcp__notes__echo", { text: "hi" }))).toBe("echo: hi");
});

test("uses the valid tools of a malformed list", async () => {
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

test("uses the later of two servers with the same name", async () => {
  const { servers } = await open([fixtureServer("notes", "dies"), fixtureServer("notes")]);
  await toolsOf(servers);
  expect(servers.statuses()).toEqual([{ name: "notes", status: "ready" }]);
});
