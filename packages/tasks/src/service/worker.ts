import { errorMessage, type TaskState } from "@flint/protocol";
import { plan } from "../schedule.ts";
import { accountsOf } from "./accounts.ts";
import { LeasedRun, type LeasedRunOptions } from "./leased-run.ts";

/** What a worker depends on. */
export interface WorkerOptions extends LeasedRunOptions {
  readonly name: string;
  readonly concurrency: number;
  readonly now: () => number;
}

interface RunningTask {
  readonly run: LeasedRun;
  readonly done: Promise<void>;
}

/** Takes the tasks of its own store that are ready, and runs each under its lease. */
export class TaskWorker {
  readonly #options: WorkerOptions;
  readonly #running = new Map<string, RunningTask>();
  readonly #unsubscribe: () => void;
  #taking: Promise<void> | undefined;
  #again = false;
  #isStopped = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#unsubscribe = options.store.subscribe(({ state }) => this.#onChange(state));
  }

  /** How many tasks run here. */
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
    for (const { run } of this.#running.values()) run.stop("The worker stops.");
    await this.#taking;
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  /** A task that was cancelled or suspended, or whose lease is void, is stopped at once. */
  #onChange(state: TaskState): void {
    if (state.run === undefined) this.#running.get(state.id)?.run.stop();
    if (state.phase === "ready") this.wake();
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
    const { store, concurrency, now } = this.#options;
    const tasks = await store.list();
    for (const { task } of plan(tasks, accountsOf(tasks), now())) {
      if (this.#running.size >= concurrency || this.#isStopped) break;
      await this.#take(task);
    }
  }

  async #take({ id }: TaskState): Promise<void> {
    const { store, name, leaseMs } = this.#options;
    if (this.#running.has(id)) return;
    const lease = await store.lease(id, name, leaseMs);
    const state = await store.read(id);
    if (lease === undefined || state === undefined) return;
    const run = new LeasedRun(this.#options, lease);
    const done = run.work(state).finally(() => {
      this.#running.delete(id);
      this.wake();
    });
    this.#running.set(id, { run, done });
  }
}
