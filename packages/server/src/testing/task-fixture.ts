import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TurnContext } from "@flint/core/ports";
import type { Result, TaskRow } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import {
  agentFolder,
  type Script,
  type ScriptedDriver,
  scriptedDriver,
  scriptedSelectors,
} from "@flint/testkit";
import { onTestFinished } from "vitest";
import { type Embedded, embed } from "../embed.ts";
import type { ServerOptions, TaskOptions } from "../server-options.ts";

const run = promisify(execFile);

/** Scripts the work of a test's agent on a prompt in its folder. */
export type Work = (text: string, turn: TurnContext, cwd: string) => Script;

/** A repository, a server with two scripted agents, alpha and beta, and a client of it. */
export interface TaskFixture {
  readonly home: string;
  readonly cwd: string;
  readonly client: FlintClient;
  readonly drivers: readonly ScriptedDriver[];
  git(...args: string[]): Promise<string>;
  /** Starts another server for the same state, after `stop`. */
  start(): Promise<Embedded>;
  /** Stops the server that runs. */
  stop(): Promise<void>;
}

/** An executor and a reviewer that do what the test says, on a repository with one commit. */
export async function setUpTasks(
  execute: Work,
  review: Work = () => [verdict("approve")],
  tasks: TaskOptions = {},
  beforeStart: (home: string, git: TaskFixture["git"]) => Promise<void> = async () => undefined,
  options: Pick<ServerOptions, "locks" | "budget" | "approvalPolicy"> = {},
): Promise<TaskFixture> {
  const folder = await agentFolder();
  const cwd = folder.join("repo");
  await mkdir(cwd);
  const git = async (...args: string[]) => {
    const who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
    return (await run("git", [...who, ...args], { cwd })).stdout.trim();
  };
  await git("init", "-q", "-b", "main");
  await writeFile(join(cwd, "a.txt"), "one\n");
  await git("add", ".");
  await git("commit", "-q", "-m", "first");
  const drivers = [driver("alpha", execute), driver("beta", review)];
  const open: Embedded[] = [];
  const stop = async () => {
    for (const server of open.splice(0)) await server.close();
  };
  onTestFinished(stop);
  const start = async () => {
    const root = folder.join("state");
    const server = await embed({ ...options, root, cwd, drivers, tasks: { askMs: 50, ...tasks } });
    open.push(server);
    return server;
  };
  await beforeStart(folder.path, git);
  const { client } = await start();
  return { home: folder.path, cwd, git, client, start, stop, drivers };
}

function driver(id: string, work: Work): ScriptedDriver {
  const made: ScriptedDriver = scriptedDriver({
    id,
    // Both offer the efforts low and high.
    selectors: (model, values) => scriptedSelectors(model, { ...values, thinking: "true" }),
    scripts: (text, turn) => work(text, turn, made.sessions.at(-1)?.settings.cwd ?? ""),
  });
  return made;
}

/** The answer of a reviewer. */
export function verdict(
  word: "approve" | "reject" | "cannotJudge",
  findings: readonly object[] = [],
  earlier: readonly object[] = [],
) {
  return { text: JSON.stringify({ verdict: word, summary: "read it", findings, earlier }) };
}

/** An agent that writes a file. */
export const writes =
  (name: string, content: string, text = "done"): Work =>
  (_text, _turn, cwd) => {
    writeFileSync(join(cwd, name), content);
    return [{ text }];
  };

/** Adds a task that alpha does and beta reviews. */
export async function addTask(client: FlintClient, cwd: string, more: object = {}): Promise<TaskRow> {
  const roles = { executors: [{ model: "alpha" }], reviewers: [{ model: "beta" }] };
  const { data } = await client.call("task/add", { tasks: [{ prompt: "Port it", cwd, ...roles, ...more }] });
  const [task] = data;
  if (task === undefined) throw new Error("No task was added");
  return task;
}

/** The task once it has come to one of these phases. */
export function untilPhase(
  client: FlintClient,
  taskId: string,
  ...phases: TaskRow["phase"][]
): Promise<TaskRow> {
  return untilTask(client, taskId, ({ phase }) => phases.includes(phase));
}

/** The task once this is true of it. */
export async function untilTask(
  client: FlintClient,
  taskId: string,
  holds: (task: TaskRow) => boolean,
): Promise<TaskRow> {
  let list: Result<"task/list"> | undefined;
  for (;;) {
    list = await client.call(
      "task/list",
      list === undefined ? {} : { revision: list.revision, timeoutMs: 20_000 },
    );
    const task = list.data.find(({ id }) => id === taskId);
    if (task !== undefined && holds(task)) return task;
  }
}
