import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Result, TaskRow } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { RedisStore } from "@flint/tasks/fleet";
import { agentFolder, Gate, needs, RedisServer, type Script, scriptedDriver } from "@flint/testkit";
import { afterEach, describe, expect } from "vitest";
import { type Embedded, embed } from "../embed.ts";
import type { RunningWorker, WorkerSettings } from "./fleet-options.ts";
import { signerOf } from "./fleet-service.ts";

const fleetTest = needs("redis", "bwrap", "git");
const run = promisify(execFile);
const open: Embedded[] = [];

afterEach(async () => {
  for (const server of open.splice(0).reverse()) await server.close();
});

type Work = (worker: string, prompt: string, cwd: string) => Script;

/** A server that adds tasks, and workers by name, each with an agent that does what the test says. */
async function setUp(work: Work) {
  const redis = await RedisServer.start();
  const home = await agentFolder();
  const cwd = home.join("repo");
  await mkdir(cwd);
  const git = async (...args: string[]) => {
    const who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
    return (await run("git", [...who, ...args], { cwd })).stdout.trim();
  };
  await git("init", "-q", "-b", "main");
  await writeFile(join(cwd, "a.txt"), "one\n");
  await git("add", ".");
  await git("commit", "-q", "-m", "first");
  const fleet = { redis: redis.url, namespace: "test", leaseMs: 2000, affinityMs: 300 };
  const root = home.join("state");
  const drivers = [scriptedDriver({ id: "alpha", scripts: [] })];
  const server = await embed({ root, cwd, drivers, tasks: { fleet } });
  open.push(server);
  const { publicKey } = await signerOf(root);
  const startWorker = async (name: string, more: Partial<WorkerSettings> = {}) => {
    const made: ReturnType<typeof scriptedDriver> = scriptedDriver({
      id: "alpha",
      scripts: (text) => work(name, text, made.sessions.at(-1)?.settings.cwd ?? ""),
    });
    const ceiling = {
      folders: [home.path],
      merge: ["none" as const],
      network: false,
      acceptApprovals: false,
    };
    const handle = await new Promise<RunningWorker>((onReady, onFailed) => {
      const worker = {
        ...{ ...fleet, name, concurrency: 2, trusted: [publicKey], ceiling, ...more, onReady, onFailed },
      };
      const drivers = [made];
      void embed({ root: home.join(name), cwd, drivers, tasks: { worker, askMs: 50 } }).then((embedded) =>
        open.push(embedded),
      );
    });
    return handle;
  };
  return { ...server, cwd, git, redis, startWorker, fleet };
}

async function add(client: FlintClient, cwd: string, more: object = {}): Promise<string> {
  const task = {
    prompt: "Port it",
    cwd,
    executors: [{ model: "alpha" }],
    reviewers: [],
    merge: "none" as const,
  };
  const { data } = await client.call("task/add", { tasks: [{ ...task, ...more }] });
  return data[0]?.id ?? "";
}

async function until(client: FlintClient, taskId: string, ...phases: TaskRow["phase"][]): Promise<TaskRow> {
  let list: Result<"task/list"> | undefined;
  for (;;) {
    list = await client.call(
      "task/list",
      list === undefined ? {} : { revision: list.revision, timeoutMs: 20_000 },
    );
    const task = list.data.find(({ id }) => id === taskId);
    if (task !== undefined && phases.includes(task.phase)) return task;
  }
}

const writes = (cwd: string): Script => {
  writeFileSync(join(cwd, "b.txt"), "x\n");
  return [{ text: "done" }];
};

describe("a fleet", () => {
  needs(
    "redis",
    "bwrap",
    "git",
  )("publishes the turns of its tasks to a stream [S2-52]", async () => {
    const { client, cwd, startWorker, fleet } = await setUp((_name, _text, folder) => writes(folder));
    const id = await add(client, cwd);
    await startWorker("w1");
    await until(client, id, "approving", "failed", "asking");
    const store = await RedisStore.open({ url: fleet.redis, namespace: "test", version: "0" });
    const entries = await store.connection.xrange("agm:events:stream", "-", "+");
    await store.close();
    const news = entries.map(([, [, text = ""]]) => JSON.parse(text));
    const turns = news.filter(({ type }) => type === "task:turn");
    expect(turns.map(({ status }) => status)).toEqual(["started", "completed"]);
    const context = { owner_role: "executor", turn_sequence: 1, provider: "alpha" };
    for (const each of news) expect(each).toMatchObject({ id, extra: { thread_context: context } });
  });

  fleetTest("runs a task on a worker, from a server that only added it", async () => {
    const { client, cwd, startWorker } = await setUp((_name, _text, folder) => writes(folder));
    const id = await add(client, cwd);
    await startWorker("w1");
    const task = await until(client, id, "approving", "failed", "asking");
    expect(task, JSON.stringify(task)).toMatchObject({ phase: "approving", thread: { worker: "w1" } });
    expect((await client.call("task/diff", { taskId: id })).diff).toContain("b.txt");
  });

  fleetTest(
    "gives a task back when its worker drains, and another goes on in a folder of its own",
    async () => {
      const gate = new Gate();
      const folders = new Map<string, string>();
      const { client, cwd, startWorker } = await setUp((name, _text, folder) => {
        folders.set(name, folder);
        return name === "w1" ? [{ wait: gate }] : writes(folder);
      });
      const first = await startWorker("w1");
      const id = await add(client, cwd);
      await gate.reached;
      await first.drain(0);
      await startWorker("w2");
      const task = await until(client, id, "approving", "failed", "asking");
      expect(task).toMatchObject({ phase: "approving", attempt: 1, thread: { worker: "w2" } });
      expect(folders.get("w1")).not.toBe(folders.get("w2"));
      const { events } = await client.call("task/read", { taskId: id });
      expect(events.map(({ type }) => type)).toContain("run/released");
    },
  );

  fleetTest("does not run unsigned tasks, or what a worker does not allow", async () => {
    const { client, cwd, startWorker, fleet } = await setUp((_name, _text, folder) => writes(folder));
    const forger = await RedisStore.open({ url: fleet.redis, namespace: "test", version: "0" });
    const merging = await add(client, cwd, { merge: "squash" });
    const { spec } = await client.call("task/read", { taskId: merging });
    const forged = await forger.add({ spec: { ...spec, merge: "none" }, by: "mallory", waiting: false });
    await forger.close();
    await startWorker("w1");
    expect((await until(client, merging, "asking", "approving")).ask?.message).toBe(
      "Worker w1 does not let a task merge by squash; allowed are none.",
    );
    expect((await until(client, forged.id, "asking", "approving")).ask?.message).toContain("is not signed");
  });

  needs(
    "redis",
    "bwrap",
    "git",
  )("adds its tasks again after Redis has lost them [P38]", async () => {
    const { client, cwd, startWorker, fleet } = await setUp((_name, _text, folder) => writes(folder));
    const ids = [await add(client, cwd), await add(client, cwd)];
    const redis = await RedisStore.open({ url: fleet.redis, namespace: "test", version: "0" });
    await redis.connection.flushall();
    await redis.close();
    await startWorker("w1");
    for (const id of ids)
      expect(await until(client, id, "approving", "failed", "asking")).toMatchObject({ phase: "approving" });
  });

  fleetTest(
    "has a worker's name once",
    async () => {
      const { startWorker } = await setUp(() => []);
      await startWorker("w1");
      await expect(startWorker("w1")).rejects.toThrow("Another worker named w1 is running");
    },
    40_000,
  );
});
