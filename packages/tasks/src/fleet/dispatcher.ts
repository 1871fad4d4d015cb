import { mintId, type TaskState } from "@flint/protocol";
import { accountsOf } from "../accounts.ts";
import type { DecisionContext } from "../decide/decision.ts";
import { DEFAULT_POOL, poolOfWorker, type QueuedRun, type RunQueue, runKey } from "../queue/run-queue.ts";
import { plan } from "../schedule.ts";
import { TaskScheduler } from "../service/scheduler.ts";
import type { RedisStore } from "../store/redis/redis-store.ts";
import { matchesWorker, type WorkerEntry, type WorkerRegistry } from "./worker-registry.ts";

/** The dependencies of a dispatcher. */
export interface DispatcherOptions {
  readonly store: RedisStore;
  readonly queue: RunQueue;
  readonly workers: WorkerRegistry;
  readonly leaseMs: number;
  /** Time for which a task waits for the worker that has its thread before others may have it. */
  readonly affinityMs: number;
  readonly context: () => DecisionContext;
  onProblem(message: string): void;
}

/** Interval of checking leases, and the longest time without a scheduler after one has ended. */
const TICK_MS = 500;
const LEAD_MS = 2000;
/** Time after which a queued run is queued again, in case the queue has lost it. */
const PUT_AGAIN_MS = 15_000;
/** The number of runs that are put without waiting for each other. */
const PUT_TOGETHER = 100;
/** To how many workers a task with labels is offered at once; the first that is free has it. */
const MAX_OFFERS = 16;
/** Changes within this time are looked at together, because a look goes through all tasks. */
const GATHER_MS = 20;

/**
 * Puts the tasks that are ready into the queue, and moves on what waits or was lost. Every server and worker has one;
 * one of them at a time is active, and another takes its place when it is gone.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #who = mintId();
  /** The runs that were put, by name, and when. */
  readonly #put = new Map<string, { readonly runs: readonly QueuedRun[]; readonly at: number }>();
  #scheduler: TaskScheduler | undefined;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | undefined;
  #isStopped = false;
  #unsubscribe: (() => void) | undefined;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  start(): void {
    this.#tick();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    await this.#ticking;
    await this.#resign();
  }

  #tickSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      // A look that is under way may have read before this change.
      if (this.#ticking === undefined) this.#tick();
      else this.#tickSoon();
    }, GATHER_MS);
  }

  #tick(): void {
    if (this.#isStopped) return;
    this.#ticking ??= this.#lead()
      // Expected: Redis is away; the next tick tries again.
      .catch((thrown: unknown) => this.#options.onProblem(String(thrown)))
      .finally(() => {
        this.#ticking = undefined;
      });
  }

  async #lead(): Promise<void> {
    const { store, leaseMs, context, onProblem } = this.#options;
    if (!(await store.lead(this.#who, LEAD_MS))) return this.#resign();
    if (this.#scheduler === undefined) {
      this.#scheduler = new TaskScheduler({ store, leaseMs, context, onProblem, gatherMs: GATHER_MS });
      this.#unsubscribe = store.subscribe(() => this.#tickSoon());
    }
    this.#scheduler.wake();
    await this.#dispatch();
  }

  async #resign(): Promise<void> {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#put.clear();
    const scheduler = this.#scheduler;
    this.#scheduler = undefined;
    await scheduler?.stop();
  }

  async #dispatch(): Promise<void> {
    const { store, context } = this.#options;
    const tasks = await store.list();
    const { now } = context();
    const offered = new Map(
      plan(tasks, accountsOf(tasks), now).map(({ task }) => [runKey(nextRun(task)), task]),
    );
    for (const [key, { runs, at }] of this.#put) {
      const isOver = !offered.has(key) || at + PUT_AGAIN_MS < now;
      if (isOver) this.#put.delete(key);
      // A run that may not continue, because of a limit or the user, is not left for a worker to find out.
      if (!offered.has(key))
        await Promise.all(leftOver(runs, store).map((run) => this.#options.queue.remove(run)));
    }
    const fresh = [...offered].filter(([key]) => !this.#put.has(key));
    const isAsking = fresh.some(([, { spec }]) => spec.labels !== undefined);
    const workers = isAsking ? await this.#options.workers.list() : [];
    for (let from = 0; from < fresh.length; from += PUT_TOGETHER)
      await Promise.all(
        fresh.slice(from, from + PUT_TOGETHER).map(async ([key, task]) => {
          const runs = await this.#runsOf(task, workers);
          // No worker offers its labels yet; the next look tries again.
          if (runs.length === 0) return;
          await Promise.all(runs.map((run) => this.#options.queue.put(run)));
          this.#put.set(key, { runs, at: now });
        }),
      );
  }

  /** The worker that has the task's thread may have it first, and the others of its pool after a while. */
  async #runsOf(task: TaskState, rows: readonly WorkerEntry[]): Promise<QueuedRun[]> {
    const { workers, affinityMs } = this.#options;
    const anywhere = nextRun(task);
    const worker = task.executorThread?.worker;
    if (task.spec.labels !== undefined) {
      const names = rows.filter((row) => mayRun(row, task)).map(({ name }) => name);
      const isFirst = (name: string) => worker === undefined || !names.includes(worker) || name === worker;
      return names.slice(0, MAX_OFFERS).map((name) => ({
        ...{ ...anywhere, pool: poolOfWorker(name) },
        ...(isFirst(name) ? {} : { delayMs: affinityMs }),
      }));
    }
    if (worker === undefined || !(await workers.isAvailable(worker))) return [anywhere];
    return [
      { ...anywhere, pool: poolOfWorker(worker) },
      { ...anywhere, delayMs: affinityMs },
    ];
  }
}

/** The runs that may still wait in the queue: the only one of a task that was leased was taken from there. */
function leftOver(runs: readonly QueuedRun[], store: Pick<RedisStore, "known">): readonly QueuedRun[] {
  const [run, ...others] = runs;
  if (run === undefined || others.length > 0) return runs;
  return (store.known(run.task)?.fence ?? 0) >= run.fence ? [] : runs;
}

/** Reports whether a worker takes tasks of this pool with these labels. */
function mayRun(row: WorkerEntry, { spec }: TaskState): boolean {
  return !row.draining && row.pools.includes(spec.pool ?? DEFAULT_POOL) && matchesWorker(row, spec.labels);
}

/** The run that a ready task waits for. */
function nextRun({ id, fence, spec }: TaskState): QueuedRun {
  return { task: id, fence: fence + 1, pool: spec.pool ?? DEFAULT_POOL, priority: spec.priority };
}
