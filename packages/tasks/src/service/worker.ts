import { errorMessage } from "@flint/protocol";
import { accountsOf, mayOfferMore, type ReportedAccount } from "../accounts.ts";
import { LocalQueue } from "../queue/local-queue.ts";
import { DEFAULT_POOL, type RunTaker } from "../queue/run-queue.ts";
import { plan, waitForReport } from "../schedule.ts";
import type { TaskChange } from "../store/task-store.ts";
import { LeasedRun, type LeasedRunOptions } from "./leased-run.ts";

/** The dependencies of a worker. */
export interface WorkerOptions extends LeasedRunOptions {
  readonly name: string;
  readonly concurrency: number;
  readonly now: () => number;
  /** The accounts at a limit that threads have met. */
  readonly reported?: (() => Promise<readonly ReportedAccount[]>) | undefined;
  /** Called when tasks wait for such a limit: somebody has to wake this worker when it is over. */
  onWait?(): void;
}

/**
 * Puts the tasks of its own store that are ready into a queue of this process, no more than it has room for, takes them
 * from there, and runs each under its lease. Who is next is decided when there is room, so nothing waits in the queue.
 */
export class TaskWorker {
  readonly #options: WorkerOptions;
  readonly #queue = new LocalQueue();
  readonly #taker: RunTaker;
  /** The tasks that were put and have not ended; one without a run is about to be leased. */
  readonly #running = new Map<string, LeasedRun | undefined>();
  readonly #unsubscribe: () => void;
  #taking: Promise<void> | undefined;
  #again = false;
  #isStopped = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#taker = this.#queue.take([DEFAULT_POOL], options.concurrency, ({ task }) => this.#take(task));
    this.#unsubscribe = options.store.subscribe((change) => this.#onChange(change));
  }

  /** The number of tasks that run here. */
  get load(): number {
    return this.#running.size;
  }

  /** Takes what is ready. Calls during one are one more. */
  wake(): void {
    if (this.#isStopped) return;
    this.#again = true;
    this.#taking ??= this.#takeAll();
  }

  /** Takes nothing more, ends what runs and gives it back. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#unsubscribe();
    await this.#taking;
    for (const run of this.#running.values()) run?.stop("The worker stops.");
    await this.#taker.close();
    await this.#queue.close();
  }

  /** A task that was cancelled or suspended, or whose lease is void, is stopped at once. */
  #onChange(change: TaskChange): void {
    const { id, run } = change.state;
    if (run === undefined) this.#running.get(id)?.stop();
    if (mayOfferMore(change)) this.wake();
  }

  async #takeAll(): Promise<void> {
    // Expected: the store cannot be written, such as on a full disk; the next change or renewal tries again.
    try {
      while (this.#again && !this.#isStopped) {
        this.#again = false;
        await this.#takeReady();
      }
    } catch (thrown) {
      this.#options.onProblem(`No task could be taken: ${errorMessage(thrown)}`);
    } finally {
      // In the same tick as the last check, so that a later call starts a new pass instead of being lost.
      this.#taking = undefined;
    }
  }

  async #takeReady(): Promise<void> {
    const { store, concurrency, now, reported } = this.#options;
    const outside = await reported?.();
    const tasks = await store.list();
    const accounts = accountsOf(tasks, outside);
    if (waitForReport(tasks, accounts, now())) this.#options.onWait?.();
    for (const { task } of plan(tasks, accounts, now())) {
      if (this.#running.size >= concurrency || this.#isStopped) break;
      if (this.#running.has(task.id)) continue;
      this.#running.set(task.id, undefined);
      const { id, fence, spec } = task;
      await this.#queue.put({ task: id, fence: fence + 1, pool: DEFAULT_POOL, priority: spec.priority });
    }
  }

  async #take(id: string): Promise<void> {
    const { store, name, leaseMs, onProblem } = this.#options;
    // Expected: the store cannot be written, such as on a full disk; the next change tries again.
    try {
      const lease = this.#isStopped ? undefined : await store.lease(id, name, leaseMs);
      const state = await store.read(id);
      if (lease === undefined || state === undefined) return;
      const run = new LeasedRun(this.#options, lease);
      this.#running.set(id, run);
      if (this.#isStopped) run.stop("The worker stops.");
      await run.work(state);
      this.#running.delete(id);
      this.wake();
    } catch (thrown) {
      onProblem(`No task could be taken: ${errorMessage(thrown)}`);
    } finally {
      this.#running.delete(id);
    }
  }
}
