import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Engine } from "@flint/core";
import type { Clock, LimitStore, Sandbox, Tasks } from "@flint/core/ports";
import type { ProjectTrust } from "@flint/host/worktrees";
import {
  EVENT_STREAM,
  FlintError,
  type Params,
  type PublishedEvent,
  type Result,
  type TaskMethod,
} from "@flint/protocol";
import type { Notifier, TaskStore, VerifyTask } from "@flint/tasks";
import { escapeControls } from "@flint/view/escape";
import type { WorkerSettings } from "./fleet/fleet-options.ts";
import type { TaskCalls } from "./fleet/fleet-service.ts";
import type { WorkerTasks } from "./fleet/worker-tasks.ts";
import type { ServerOptions, TaskOptions } from "./server-options.ts";
import { connectTo, gitWorkspaces, type TaskParts } from "./task-parts.ts";
import { VERSION } from "./version.ts";

/** Dependencies of a server's tasks. */
interface ServerTasksOptions extends TaskOptions {
  readonly root: string;
  readonly durable: boolean;
  readonly environment: NodeJS.ProcessEnv;
  readonly sandbox: Sandbox;
  readonly trust: ProjectTrust;
  /** The store of what agents reported of their accounts. */
  readonly limitStore: LimitStore;
  readonly clock: Clock;
  /** The engine that runs the turns: tasks are its client. */
  readonly engine: () => Engine;
}

/** The tasks of a server or a worker; undefined for a server that runs none. */
export function composeTasks(
  { tasks }: Pick<ServerOptions, "tasks">,
  parts: Omit<ServerTasksOptions, keyof TaskOptions>,
): (Tasks & { resume(): void }) | undefined {
  if (tasks === undefined) return undefined;
  if (tasks.worker === undefined) return new ServerTasks({ ...parts, ...tasks });
  const now = () => parts.clock.now();
  return new LazyWorker({ ...parts, now, onProblem, askMs: tasks.askMs, disk: tasks.disk }, tasks.worker);
}

function onProblem(problem: string): void {
  process.stderr.write(`flint: tasks: ${escapeControls(problem)}\n`);
}

/** A worker whose code is loaded when it starts, because a server has no use for it. */
class LazyWorker implements Tasks {
  readonly #parts: TaskParts;
  readonly #settings: WorkerSettings;
  #worker: Promise<WorkerTasks> | undefined;
  #running: WorkerTasks | undefined;

  constructor(parts: TaskParts, settings: WorkerSettings) {
    this.#parts = parts;
    this.#settings = settings;
  }

  resume(): void {
    this.#worker = import("./fleet/worker-tasks.ts").then(({ WorkerTasks: Worker }) => {
      this.#running = new Worker(this.#parts, this.#settings);
      this.#running.resume();
      return this.#running;
    });
  }

  get isWorking(): boolean {
    return this.#running?.isWorking === true;
  }

  async call(): Promise<never> {
    throw new FlintError("unsupported", "A worker only runs tasks. Ask the server that adds them.");
  }

  async close(): Promise<void> {
    await (await this.#worker)?.close();
  }
}

/** The task layer of a server, loaded when somebody uses tasks, or at once if some were left. */
export class ServerTasks implements Tasks {
  readonly #options: ServerTasksOptions;
  #service: Promise<TaskCalls> | undefined;
  #running: TaskCalls | undefined;
  #notifier: Notifier | undefined;
  #isClosed = false;

  constructor(options: ServerTasksOptions) {
    this.#options = options;
  }

  /** Continues the tasks of an earlier server, if there are any. */
  resume(): void {
    const { root, fleet } = this.#options;
    // Expected: Redis is unreachable. Callers get the reason, and the next call tries again.
    if (fleet !== undefined || existsSync(journalOf(root))) this.#load().catch(() => undefined);
  }

  /** The workers of a fleet publish the events, where every machine can read them. */
  get eventStream(): string | undefined {
    const { fleet } = this.#options;
    return fleet === undefined ? undefined : (fleet.events?.stream ?? EVENT_STREAM);
  }

  get isWorking(): boolean {
    return this.#running?.isWorking === true;
  }

  async call<Name extends TaskMethod>(method: Name, params: Params<Name>): Promise<Result<Name>> {
    return (await this.#load()).call(method, params, userInfo().username);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // Expected: it could not be started.
    const service = await this.#service?.catch(() => undefined);
    // Its last message is about tasks of a store that is still open.
    await this.#notifier?.stop();
    await service?.close();
  }

  #load(): Promise<TaskCalls> {
    this.#service ??= this.#start().catch((thrown: unknown) => {
      this.#service = undefined;
      throw thrown;
    });
    return this.#service;
  }

  async #start(): Promise<TaskCalls> {
    const { root, durable, environment, sandbox, clock, engine, fleet } = this.#options;
    const { trust, concurrency, askMs, limits, notices, remote, disk, limitStore } = this.#options;
    const { JournalStore, Notifier, reportedAccounts, TaskService } = await import("@flint/tasks");
    const now = () => clock.now();
    const [{ workspaces, folders }, client] = await Promise.all([
      gitWorkspaces({ root, environment, sandbox, trust }),
      connectTo(engine()),
    ]);
    const reported = async () => {
      const reached = limitStore.read().filter(({ resetsAtMs = 0 }) => resetsAtMs > now());
      if (reached.length === 0) return [];
      // Expected: the configuration cannot be read. A task that names no model meets the limit then.
      const model = await client.call("config/read", {}).then(
        (config) => config.model,
        () => undefined,
      );
      return reportedAccounts(reached, model);
    };
    const serviceOf = async (store: TaskStore, most = concurrency, verify?: VerifyTask) => {
      const run = async (command: readonly string[], variables: Readonly<Record<string, string>>) =>
        runProgram(sandbox, root, await outerCommand(command, environment), variables);
      this.#notifier = await Notifier.start({
        ...{ ...notices, store, verify, onProblem, run },
        after: (...timer) => clock.after(...timer),
      });
      const news = { publish: (event: PublishedEvent) => engine().publishTaskEvent(event) };
      const settings = { concurrency: most, askMs, limits, remote, news, verify, version: VERSION };
      return new TaskService({
        ...{ store, workspaces, folders, disk, client, now, onProblem },
        // The workers of a fleet have accounts of their own.
        reported: fleet === undefined ? reported : undefined,
        ...settings,
      });
    };
    const service =
      fleet === undefined
        ? await serviceOf(
            await JournalStore.open({ path: journalOf(root), durable, now, onDamage: onProblem }),
          )
        : await (await import("./fleet/fleet-service.ts")).openFleet(
            { root, now, onProblem },
            fleet,
            // Workers run the tasks of a fleet, not the server that adds them.
            (store, verify) => serviceOf(store, 0, verify),
          );
    this.#running = service;
    if (!this.#isClosed) service.start();
    return service;
  }
}

function journalOf(root: string): string {
  return join(root, "tasks", "journal.jsonl");
}

const PROGRAM_MS = 30_000;

/** The command with a search path that leads to no program which an agent put among those of a project. */
async function outerCommand(command: readonly string[], { PATH = "" }: NodeJS.ProcessEnv): Promise<string[]> {
  const { outerSearchPath } = await import("@flint/host/sandbox");
  return ["/usr/bin/env", `PATH=${outerSearchPath(PATH, [process.cwd()])}`, ...command];
}

/** Runs a program from the user's own configuration, as the user. A project cannot set it. */
async function runProgram(
  sandbox: Sandbox,
  folder: string,
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const { exitCode } = await sandbox.launch({
    ...{ command, environment, cwd: folder, workspace: folder, timeoutMs: PROGRAM_MS },
    policy: { type: "dangerFullAccess" },
    onOutput: () => undefined,
  });
  return exitCode;
}
