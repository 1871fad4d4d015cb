import { execFile } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TaskEventBody } from "@flint/protocol";
import { openConnection } from "@flint/tasks/fleet";
import { agentProgram, needs, RedisServer } from "@flint/testkit";
import { describe, expect, vi } from "vitest";
import { FleetFixture } from "./fleet-fixture.ts";

const TEST_MS = 300_000;
const run = promisify(execFile);
const LIMITED_CLAUDE = fileURLToPath(new URL("programs/limited-claude.mjs", import.meta.url));

/** A step of the script that the model of all agents plays. */
const step = (when: string, ...parts: object[]) => JSON.stringify({ when, parts });
const shell = (command: string) => ({ call: "Bash", input: { command } });
const says = (text: string | object) => ({ text: typeof text === "string" ? text : JSON.stringify(text) });
const verdict = (word: "approve" | "reject", more: object) =>
  says({ verdict: word, summary: `I ${word}`, findings: [], earlier: [], ...more });

const FINDING = {
  id: "x",
  severity: "major",
  file: "b.txt",
  line: 1,
  what: "too short",
  why: null,
  fix: null,
};
const QUESTION = {
  ...{ question: "Which colour?", header: "Colour", multiSelect: false },
  options: [
    { label: "red", description: "warm" },
    { label: "blue", description: "cold" },
  ],
};

describe("a Redis that cannot keep tasks", () => {
  const OTHER_FORMAT = "99 9.9.9";
  const cases: readonly (readonly [string, () => Promise<string>, string])[] = [
    ["is absent", async () => "unix:/nowhere/redis.sock", "cannot be reached"],
    ["wants a password", async () => startRedis("--requirepass", "secret"), "rejects the user or password"],
    ["is a replica", async () => startRedis("--replicaof", "127.0.0.1", "1"), "is a read-only replica"],
    ["evicts", async () => startRedis("--maxmemory-policy", "allkeys-lru"), "Set it to noeviction"],
    ["has tasks of another format", () => redisOfOtherFormat(OTHER_FORMAT), "Use one version everywhere"],
  ];

  for (const [what, start, reason] of cases)
    needs("redis", "git")(
      `and ${what} ends flint worker and flint serve with 1 and the reason`,
      async () => {
        const place = await FleetFixture.make();
        const user = await place.user("state", await start());
        const worker = await user.flint("worker", "--offline");
        const server = await user.flint("serve", "--listen", "local");
        expect([worker.code, server.code]).toEqual([1, 1]);
        expect(worker.stderr).toContain(reason);
        expect(server.stderr).toContain(reason);
      },
      TEST_MS,
    );

  async function startRedis(...args: string[]): Promise<string> {
    return (await RedisServer.start({ args })).url;
  }

  async function redisOfOtherFormat(format: string): Promise<string> {
    const url = await startRedis();
    const connection = await openConnection(url);
    await connection.set("flint:{default}:format", format);
    connection.disconnect();
    return url;
  }
});

needs("redis", "git")(
  "a worker reaches Redis with TLS if it trusts the CA, and says so if it does not",
  async () => {
    const place = await FleetFixture.make();
    const port = await freePort();
    const tls = ["--tls-port", String(port), "--tls-auth-clients", "no", "--bind", "127.0.0.1"];
    const files = ["--tls-cert-file", fixture("localhost.pem"), "--tls-key-file", fixture("localhost.key")];
    await RedisServer.start({ args: [...tls, ...files] });
    const url = `rediss://localhost:${port}`;
    const ca = { NODE_EXTRA_CA_CERTS: fixture("localhost.pem") };
    const stranger = await (await place.user("stranger", url)).flint("worker", "--offline");
    expect([stranger.code, stranger.stderr]).toEqual([1, expect.stringContaining("certificate")]);
    const worker = await (await place.user("trusting", url, "", ca)).work("w1", [], []);
    expect(await worker.end("SIGTERM")).toBe(0);
  },
  TEST_MS,
);

needs("redis", "bwrap", "git")(
  "a killed flint worker loses its run, another one finishes it, and SIGTERM drains",
  async () => {
    const place = await FleetFixture.make();
    const redis = await RedisServer.start();
    const user = await place.user("server", redis.url);
    const helper = await place.user("worker", redis.url);
    await user.serve();
    const { stdout: key } = await user.flint("tasks", "key");
    const slow = { call: "shell", input: { command: "sleep 3600" } };
    const first = await helper.work("w1", [key.trim()], [step("^Port it", slow)]);
    await user.flint("tasks", "add", "Port it", "--executor", "flint/offline");
    await vi.waitUntil(async () => (await processesWith("sleep 3600")) > 0, { timeout: 60_000 });
    await first.end("SIGKILL");
    const write = { call: "shell", input: { command: "echo done > b.txt" } };
    const second = await helper.work(
      "w2",
      [key.trim()],
      [step("^You were interrupted", write), step("^You were interrupted", says("Done."))],
    );
    const watched = await user.flint("tasks", "watch");
    expect([watched.code, watched.stdout]).toEqual([10, expect.stringContaining("needs approval")]);
    expect((await user.flint("tasks", "logs", "1")).stdout).toContain("the run on w1 was lost");
    expect((await user.flint("tasks", "diff", "1")).stdout).toContain("+done");
    // What the killed worker started has ended with it.
    expect(await processesWith("sleep 3600")).toBe(0);
    expect(await second.end("SIGTERM")).toBe(0);
    expect(second.errors).toContain("draining");
  },
  TEST_MS,
);

needs(
  "redis",
  "claude",
  "codex",
  "bwrap",
  "git",
  "tmux",
)(
  "a task sleeps at Claude's limit, outlives every process, and is resumed, answered and approved from elsewhere",
  async () => {
    const place = await FleetFixture.make();
    const redis = await RedisServer.start();
    const limit = join(place.folder, "limit");
    await writeFile(limit, "");
    const claude = [process.execPath, LIMITED_CLAUDE, limit, program("claude")];
    const agents = Object.entries({ claude, codex: [program("codex")] }).map(
      ([agent, command]) => `[agents.${agent}]\ncommand = ${JSON.stringify(command)}\n`,
    );
    const friday = await place.user("friday", redis.url);
    const helper = await place.user("helper", redis.url, agents.join(""));
    const server = await friday.serve();
    const { stdout: key } = await friday.flint("tasks", "key");
    const file = join(place.repo, "..", "tasks.yaml");
    const task = {
      cwd: place.repo,
      prompt: "Port it",
      executor: "claude",
      reviewer: "codex",
      check: "grep -q blue b.txt",
    };
    await writeFile(file, JSON.stringify({ defaults: { rounds: 3 }, tasks: [task] }));
    const worker = await helper.work(
      "w1",
      [key.trim()],
      [step("^Port it", shell("echo half > b.txt")), step("^Port it", says("Half of it."))],
    );
    expect((await friday.flint("tasks", "add", "--file", file)).stdout).toContain("#1");
    const limited = await friday.flint("tasks", "watch");
    expect([limited.code, limited.stdout]).toEqual([11, expect.stringMatching(/suspended, (2h|1h 5\d)/)]);
    await Promise.all([server.end("SIGKILL"), worker.end("SIGKILL")]);

    await rm(limit);
    // Another state folder, which has never seen the task; the server that added it stays off.
    const monday = await place.user("monday", redis.url);
    await monday.flint("config", "set", "tasks.trust", JSON.stringify([key.trim()]));
    await helper.work(
      "w1",
      [key.trim()],
      [
        step("interrupted by a usage limit", { call: "AskUserQuestion", input: { questions: [QUESTION] } }),
        step("The answer is:\\s+blue", shell("echo blue > b.txt")),
        step("The answer is:\\s+blue", says("Painted.")),
        step("^Review the changes", verdict("reject", { findings: [FINDING] })),
        step("^The work was reviewed", shell("echo blue, and more > b.txt")),
        step("^The work was reviewed", says({ summary: "says more", contested: [] })),
        step(
          "^Review the changes",
          verdict("approve", { earlier: [{ id: "F1", state: "resolved", why: null }] }),
        ),
      ],
    );
    expect((await monday.flint("tasks", "resume", "1")).code).toBe(0);
    const asked = await monday.flint("tasks", "watch");
    expect([asked.code, asked.stdout]).toEqual([10, expect.stringContaining("Which colour?")]);
    expect((await monday.flint("tasks", "answer", "1", "blue")).code).toBe(0);
    const reviewed = await monday.flint("tasks", "watch");
    expect(reviewed.stdout).toContain("#1 Port it: needs approval, round 2 of 3");
    const { stdout } = await monday.flint("tasks", "show", "1", "--json");
    // All of it is one thread of Claude.
    expect(new Set(executorThreads(stdout)).size).toBe(1);

    const terminal = await monday.terminal("tasks", "approve", "1");
    await terminal.until((screen) => screen.includes("Approve this result? [y/N]"), "the question");
    expect(await terminal.everything()).toContain("+blue, and more");
    await terminal.type("y");
    await terminal.press("Enter");
    expect(await terminal.exitCode()).toBe(0);
    expect((await monday.flint("tasks", "watch")).stdout).toContain("branch flint/port-it");
    expect(await place.git("show", "flint/port-it:b.txt")).toBe("blue, and more");
    expect([await place.git("status", "--porcelain"), await place.git("branch", "--show-current")]).toEqual([
      ...["", "main"],
    ]);
  },
  TEST_MS,
);

function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("There is no port.");
  return address.port;
}

function program(agent: "claude" | "codex"): string {
  return agentProgram(agent) ?? agent;
}

/** The threads in which the executor of a task worked. */
function executorThreads(shown: string): string[] {
  const { events } = JSON.parse(shown);
  return events.flatMap((event: TaskEventBody) =>
    event.type === "round/turn" && event.data.role === "executor" ? [event.data.turn.threadId] : [],
  );
}

/** The number of processes that were started with this command line. */
async function processesWith(command: string): Promise<number> {
  const { stdout } = await run("ps", ["-eo", "args"]);
  return stdout.split("\n").filter((line) => line.trim() === command).length;
}
