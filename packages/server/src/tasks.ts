import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Engine } from "@flint/core";
import type { Clock, Sandbox, Tasks } from "@flint/core/ports";
import type { Params, Result, TaskMethod } from "@flint/protocol";
import type { ClientConnectOptions, FlintClient } from "@flint/sdk";
import type { TaskService } from "@flint/tasks";
import type { TaskOptions } from "./server-options.ts";
import { VERSION } from "./version.ts";

/** Questions stay open for other clients; if nobody answers in time, the task itself asks. */
const CLIENT: ClientConnectOptions = {
  clientInfo: { name: "flint-tasks", version: VERSION },
  onApproval: (_request, { signal }) => untilAborted(signal),
  onQuestion: (_request, { signal }) => untilAborted(signal),
};

function untilAborted(signal: AbortSignal): Promise<"leave"> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve("leave"), { once: true }));
}

/** What the tasks of a server depend on. */
interface ServerTasksOptions extends TaskOptions {
  readonly root: string;
  readonly durable: boolean;
  readonly environment: NodeJS.ProcessEnv;
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  /** The engine that runs the turns: tasks are its client. */
  readonly engine: () => Engine;
}

/** The task layer of a server, loaded when somebody uses tasks, or at once if some were left. */
export class ServerTasks implements Tasks {
  readonly #options: ServerTasksOptions;
  #service: Promise<TaskService> | undefined;
  #running: TaskService | undefined;
  #isClosed = false;

  constructor(options: ServerTasksOptions) {
    this.#options = options;
  }

  /** Continues the tasks of an earlier server, if there are any. */
  resume(): void {
    if (existsSync(journalOf(this.#options.root))) void this.#load();
  }

  get isWorking(): boolean {
    return this.#running?.isWorking === true;
  }

  async call<Name extends TaskMethod>(method: Name, params: Params<Name>): Promise<Result<Name>> {
    return (await this.#load()).call(method, params, userInfo().username);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#service)?.close();
  }

  #load(): Promise<TaskService> {
    this.#service ??= this.#start();
    return this.#service;
  }

  async #start(): Promise<TaskService> {
    const { root, durable, environment, sandbox, clock, engine, concurrency, askMs } = this.#options;
    const { GitPlaces, JournalStore, TaskService } = await import("@flint/tasks");
    const { TurnCommits, Worktrees } = await import("@flint/host/worktrees");
    const onProblem = (problem: string) => void process.stderr.write(`flint: tasks: ${problem}\n`);
    const now = () => clock.now();
    const store = await JournalStore.open({ path: journalOf(root), durable, now, onDamage: onProblem });
    const worktrees = new Worktrees(worktreeFolder(root), environment, sandbox);
    const client = await connectTo(engine());
    const places = new GitPlaces(worktrees, new TurnCommits(worktrees, sandbox));
    const service = new TaskService({ store, places, client, now, onProblem, concurrency, askMs });
    this.#running = service;
    if (!this.#isClosed) service.start();
    return service;
  }
}

function journalOf(root: string): string {
  return join(root, "tasks", "journal.jsonl");
}

/** Beside the state folder and not in it: sandboxed commands work there, and can never write the state folder itself. */
function worktreeFolder(root: string): string {
  return `${root}-worktrees`;
}

/** A client of the engine in this process. Loaded here, because a server without tasks answers without it. */
async function connectTo(engine: Engine): Promise<FlintClient> {
  const [{ ClientConnection }, { flintFrontend }, { memoryPair }, { connect }] = await Promise.all([
    import("@flint/frontends"),
    import("@flint/frontends/flint"),
    import("@flint/rpc"),
    import("@flint/sdk"),
  ]);
  const [ours, theirs] = memoryPair();
  new ClientConnection(flintFrontend(), engine, ours);
  return connect({ ...CLIENT, transport: theirs });
}
