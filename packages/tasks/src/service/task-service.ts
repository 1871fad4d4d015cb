import {
  FlintError,
  isEnded,
  LOCAL_WORKER,
  type MergeMode,
  mintId,
  type Params,
  type Result,
  type TaskMethod,
  type TaskRow,
  type TaskState,
  taskRow,
  type WorkerRow,
} from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { accountsOf, type ReportedAccount } from "../accounts.ts";
import { type DecisionContext, type Events, event, TaskRefusal } from "../decide/decision.ts";
import * as userActions from "../decide/user-actions.ts";
import { steerRemoteTurn } from "../fleet/live-steers.ts";
import type { EventSink } from "../published/event-stream.ts";
import { RunEvents } from "../published/run-events.ts";
import { DEFAULT_POOL } from "../queue/run-queue.ts";
import type { TaskFolders } from "../run/task-folders.ts";
import { TaskRun } from "../run/task-run.ts";
import type { TaskWorkspaces } from "../run/task-workspaces.ts";
import { heldUntil } from "../schedule.ts";
import type { Lease, TaskStore } from "../store/task-store.ts";
import { type AddOptions, addTasks } from "./add-tasks.ts";
import { resumeAll, suspendAll } from "./bulk-actions.ts";
import { TaskScheduler } from "./scheduler.ts";
import { remoteTurn, steerTurn } from "./steering.ts";
import { type DiskSettings, TaskCleaner } from "./task-cleaner.ts";
import { assertVerified, type VerifyTask } from "./verify-task.ts";
import { TaskWorker } from "./worker.ts";

/** The dependencies of the task service. */
export interface TaskServiceOptions extends AddOptions {
  readonly store: TaskStore;
  readonly workspaces: TaskWorkspaces;
  /** The folders of tasks on the disk; without them, nothing is cleaned and no space is required. */
  readonly folders?: TaskFolders | undefined;
  readonly disk?: DiskSettings | undefined;
  /** A client of the engine that runs the turns. */
  readonly client: FlintClient;
  readonly concurrency?: number | undefined;
  /** The version of Flint, as it is shown. */
  readonly version?: string | undefined;
  readonly leaseMs?: number | undefined;
  readonly askMs?: number | undefined;
  /** The accounts at a limit that threads outside of tasks have met. */
  readonly reported?: (() => Promise<readonly ReportedAccount[]>) | undefined;
  /** The destination of turn events for other programs. */
  readonly news?: EventSink | undefined;
  /**
   * Verifies that a task is as it was added; if absent, all of them count as that, as in a store of one
   * machine.
   */
  readonly verify?: VerifyTask | undefined;
  onProblem(message: string): void;
}

type Handlers = {
  readonly [Name in TaskMethod]: (params: Params<Name>, by: string) => Promise<Result<Name>>;
};

const LEASE_MS = 30_000;
const ASK_MS = 60_000;
const CONCURRENCY = 2;
const DECISION_TRIES = 10;

/** Tasks on this machine: people add, watch and answer them; a scheduler and a worker carry them on. */
export class TaskService {
  readonly #options: TaskServiceOptions;
  readonly #scheduler: TaskScheduler;
  readonly #worker: TaskWorker;
  readonly #cleaner: TaskCleaner | undefined;
  readonly #waiting = new Set<() => void>();
  #revision: number;

  constructor(options: TaskServiceOptions) {
    this.#options = options;
    // Counts on over restarts, so that no client takes a new list for an old one.
    this.#revision = options.now();
    const { store, leaseMs = LEASE_MS, now, reported } = options;
    store.subscribe(() => this.#onChange());
    this.#scheduler = new TaskScheduler({
      ...{ store, leaseMs, reported, context: () => this.#context() },
      onRecovery: () => this.#worker.wake(),
      onProblem: (message) => options.onProblem(message),
    });
    this.#worker = new TaskWorker({
      ...{
        store,
        leaseMs,
        now,
        reported,
        name: LOCAL_WORKER,
        concurrency: options.concurrency ?? CONCURRENCY,
      },
      onProblem: (message) => options.onProblem(message),
      onWait: () => this.#scheduler.watchRecovery(),
      run: (lease, state, signal) => this.#run(lease, state, signal),
    });
    const { folders, disk, verify } = options;
    const onProblem = (message: string) => options.onProblem(message);
    this.#cleaner =
      folders === undefined ? undefined : new TaskCleaner({ store, folders, now, disk, verify, onProblem });
  }

  async #run(lease: Lease, state: TaskState, signal: AbortSignal): Promise<void> {
    const { store, workspaces, client, news, now, reported, askMs = ASK_MS } = this.#options;
    const observer = news === undefined ? undefined : await RunEvents.of(news, now, state, store);
    const diskProblem = async () => this.#cleaner?.problem();
    const options = {
      store,
      workspaces,
      client,
      askMs,
      observer,
      reported,
      diskProblem,
      context: () => this.#context(),
    };
    await new TaskRun(options, lease, state, signal).work().finally(() => observer?.stop());
  }

  /** Begins to work on what is there. */
  start(): void {
    this.#cleaner?.wake();
    this.#scheduler.wake();
    this.#worker.wake();
  }

  /** Reports whether a task runs or is due later: a server that stopped before then would not start it. */
  get isWorking(): boolean {
    return this.#worker.load > 0 || this.#scheduler.isWaiting;
  }

  /** Answers a method. Rejects with a FlintError that says what to do instead. */
  async call<Name extends TaskMethod>(method: Name, params: Params<Name>, by: string): Promise<Result<Name>> {
    // Expected: a request that the task's state does not allow.
    try {
      return await this.#handlers[method](params, by);
    } catch (thrown) {
      if (thrown instanceof TaskRefusal) throw new FlintError("invalidRequest", thrown.message);
      throw thrown;
    }
  }

  /** Gives back what runs and closes the store. */
  async close(): Promise<void> {
    await this.#worker.stop();
    await this.#scheduler.stop();
    await this.#cleaner?.stop();
    await this.#options.store.close();
    this.#onChange();
  }

  readonly #handlers: Handlers = {
    "task/add": async ({ tasks }, by) => {
      const added = await addTasks(this.#options, tasks, by);
      this.start();
      return { data: added.map(taskRow) };
    },
    "task/list": async ({ revision, timeoutMs }) => {
      if (revision === this.#revision && timeoutMs !== undefined) await this.#changed(timeoutMs);
      return { revision: this.#revision, data: await this.#rows() };
    },
    "task/read": async ({ taskId, after }) => {
      const state = await this.#find(taskId);
      return {
        task: taskRow(state),
        spec: state.spec,
        events: [...(await this.#options.store.events(taskId, after))],
      };
    },
    "task/diff": async ({ taskId }) => {
      const state = await this.#findVerified(taskId);
      const diff = state.base === undefined ? "" : await this.#options.workspaces.diff(state);
      return { diff, tree: state.result?.tree ?? null };
    },
    "task/answer": async ({ taskId, askId, answer }, by) =>
      this.#decide(taskId, (state) => userActions.answer(state, askId, answer, by)),
    "task/approve": async ({ taskId, tree }, by) =>
      this.#decide(taskId, (state) => userActions.approve(state, tree, by)),
    "task/merge": async ({ taskId, tree, merge }, by) =>
      this.#decide(taskId, (state) => {
        this.#assertSigned(state, merge);
        return userActions.merge(state, tree, merge, by);
      }),
    "task/reject": async ({ taskId, comments }, by) =>
      this.#decide(taskId, (state) => userActions.rejectResult(state, comments, by)),
    "task/steer": async (params, by) => this.#steer(params, by),
    "task/suspend": async ({ taskId }, by) => this.#decide(taskId, (state) => userActions.suspend(state, by)),
    "task/resume": async ({ taskId }, by) => this.#decide(taskId, (state) => userActions.resume(state, by)),
    "task/suspendAll": async (_params, by) => suspendAll(this.#options, by),
    "task/resumeAll": async (_params, by) => resumeAll(this.#options, by),
    "task/cancel": async ({ taskId, reason }, by) =>
      // Also of a task that is not verified, because only one that has ended can be removed.
      this.#decide(
        taskId,
        (state) => userActions.cancel(state, by, reason),
        (id) => this.#find(id),
      ),
    "task/retry": async ({ taskId, ...from }, by) =>
      this.#decide(taskId, (state) => userActions.retry(state, by, from)),
    "task/remove": async ({ taskId }) => {
      const state = await this.#find(taskId);
      if (!isEnded(state)) throw new TaskRefusal(`Task ${state.number} has not ended. Cancel it first.`);
      const { workspaces, verify } = this.#options;
      // It has no folders here if it was not added here, and names those of others.
      const isVerified = (await verify?.(state)) === undefined;
      if (state.folder !== undefined && isVerified) await workspaces.remove(state);
      await this.#options.store.remove(taskId);
      this.#onChange();
      // Its observations of the account are gone with it.
      this.start();
      return {};
    },
    "task/clean": async (params) => {
      if (this.#cleaner === undefined) throw new TaskRefusal("This server keeps no folders of tasks.");
      return this.#cleaner.clean(params);
    },
    "worker/list": async () => ({ data: [this.#workerRow()] }),
    "worker/drain": async () => {
      throw new TaskRefusal(
        "This server runs its tasks itself. Stop it with flint server stop; its tasks continue with the next one.",
      );
    },
  };

  /** Workers elsewhere merge a task as it was signed, because anyone who writes their database could ask for another. */
  #assertSigned({ number, spec: { merge: signed } }: TaskState, merge: MergeMode | undefined): void {
    if (this.#options.verify === undefined || (signed !== "none" && (merge ?? signed) === signed)) return;
    throw new TaskRefusal(
      `In a fleet, task ${number} can only be merged as it was added, by ${signed}. Its commits are under refs/flint/tasks.`,
    );
  }

  /** All tasks, and until when those that are ready wait for the limit of an account. */
  async #rows(): Promise<TaskRow[]> {
    const { store, reported, now } = this.#options;
    const outside = await reported?.();
    const tasks = await store.list();
    const accounts = accountsOf(tasks, outside);
    return tasks.map((state) => {
      const untilMs = state.phase === "ready" ? heldUntil(state, accounts, now()) : 0;
      return untilMs > now() ? { ...taskRow(state), untilMs } : taskRow(state);
    });
  }

  #workerRow(): WorkerRow {
    const { version = "", concurrency = CONCURRENCY } = this.#options;
    const offered = { pools: [DEFAULT_POOL], labels: [] };
    return { name: LOCAL_WORKER, version, ...offered, concurrency, load: this.#worker.load, draining: false };
  }

  async #decide(
    taskId: string,
    decide: (state: TaskState) => Events,
    find = (id: string) => this.#findVerified(id),
  ): Promise<{ task: TaskRow }> {
    for (let attempt = 0; attempt < DECISION_TRIES; attempt += 1) {
      const state = await find(taskId);
      const result = await this.#options.store.commit({
        task: taskId,
        expect: state.version,
        events: decide(state),
      });
      if (result.status === "ok") return { task: taskRow(result.state) };
    }
    throw new FlintError("overloaded", "The task keeps changing; try again.");
  }

  async #steer(
    { taskId, content, live = true, keep = false }: Params<"task/steer">,
    by: string,
  ): Promise<Result<"task/steer">> {
    const state = await this.#findVerified(taskId);
    if (isEnded(state) && !keep)
      throw new TaskRefusal(`Task ${state.number} is ${state.phase}. Retry it first.`);
    const steerId = mintId();
    const turn = live ? remoteTurn(state) : undefined;
    if (turn !== undefined) {
      const outcome = await steerRemoteTurn(this.#options.store, state, { steerId, by, content, turn });
      return { steerId, ...outcome };
    }
    const outcome = live ? await steerTurn(this.#options.client, state, content) : { live: false };
    const steered = event("task/steered", { steerId, by, content, requested: live, ...outcome });
    await this.#decide(taskId, () => [steered]);
    return { steerId, ...outcome };
  }

  async #find(taskId: string): Promise<TaskState> {
    const state = await this.#options.store.read(taskId);
    if (state === undefined) throw new FlintError("invalidParams", `There is no task ${taskId}.`);
    return state;
  }

  /** The task that something is to be done for. */
  async #findVerified(taskId: string): Promise<TaskState> {
    const state = await this.#find(taskId);
    await assertVerified(state, this.#options.verify);
    return state;
  }

  #context(): DecisionContext {
    return { now: this.#options.now(), random: Math.random(), id: () => mintId() };
  }

  #onChange(): void {
    this.#revision += 1;
    for (const resolve of this.#waiting) resolve();
  }

  #changed(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      this.#waiting.add(done);
    });
  }
}
