import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { EVENT_STREAM, type PublishedEvent, type Result, type TaskRow } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { openConnection } from "@flint/tasks/fleet";
import { agentFolder, RedisServer, type Script, scriptedDriver } from "@flint/testkit";
import { onTestFinished } from "vitest";
import { type Embedded, embed } from "../embed.ts";
import type { RunningWorker, WorkerSettings } from "../fleet/fleet-options.ts";
import { signerOf } from "../fleet/fleet-service.ts";

const run = promisify(execFile);

/** Scripts the work of a worker's agent on a prompt in its folder. */
export type FleetWork = (worker: string, prompt: string, cwd: string) => Script;

/** Runs git as the user in a folder. */
export async function runGit(cwd: string, ...args: string[]): Promise<string> {
  const who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
  return (await run("git", [...who, ...args], { cwd })).stdout.trim();
}

/** Arguments that start a Redis for others than its own user, and their address of it. */
export interface RedisAccess {
  readonly args: readonly string[];
  readonly url: string;
}

/** A server that adds tasks, and workers by name, each with an agent that does what the test says. */
export async function setUpFleet(work: FleetWork, access?: RedisAccess) {
  const open: Embedded[] = [];
  const redis = await RedisServer.start(access === undefined ? {} : { args: access.args });
  const home = await agentFolder();
  const closeAll = async () => {
    for (const server of open.splice(0).reverse()) await server.close();
  };
  onTestFinished(closeAll);
  const cwd = home.join("repo");
  await mkdir(cwd);
  const git = (...args: string[]) => runGit(cwd, ...args);
  await git("init", "-q", "-b", "main");
  await writeFile(join(cwd, "a.txt"), "one\n");
  await git("add", ".");
  await git("commit", "-q", "-m", "first");
  const fleet = { redis: access?.url ?? redis.url, namespace: "test", leaseMs: 2000, affinityMs: 300 };
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
    Object.assign(made, { provider: () => "anthropic" });
    const ceiling = {
      folders: [home.path],
      merge: ["none" as const],
      network: false,
      allowTools: false,
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
  return { ...server, home, cwd, git, redis, startWorker, closeAll, fleet };
}

/** Adds a task that alpha does. */
export async function addToFleet(client: FlintClient, cwd: string, more: object = {}): Promise<string> {
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

/** The events that the stream of the fleet has. */
export async function newsOf(
  redis: string,
  stream: string = EVENT_STREAM,
): Promise<readonly PublishedEvent[]> {
  const connection = await openConnection(redis);
  const entries = await connection.xrange(stream, "-", "+");
  connection.disconnect();
  return entries.map(([, [, text = ""]]) => JSON.parse(text));
}

/** The task once it has come to one of these phases. */
export async function untilInFleet(
  client: FlintClient,
  taskId: string,
  ...phases: TaskRow["phase"][]
): Promise<TaskRow> {
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

/** An agent that writes a file. */
export const writesFile = (cwd: string): Script => {
  writeFileSync(join(cwd, "b.txt"), "x\n");
  return [{ text: "done" }];
};
