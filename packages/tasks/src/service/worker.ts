import type { TaskState } from "@flint/protocol";
import { plan } from "../schedule.ts";
import type { Lease, TaskStore } from "../store/task-store.ts";
import { accountsOf } from "./accounts.ts";

/** What a worker depends on. */
export interface WorkerOptions {
  readonly store: TaskStore;
  readonly name: string;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly now: () => number;
  /** Carries a task on until it waits for something. */
  run(lease: Lease, state: TaskState, signal: AbortSignal): Promise<void>;
  onProblem(message: string): void;
}

interface RunningTask {
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

/** Takes tasks that are ready, renews their leases while they run, and stops a run that it could not renew. */
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
    this.#taking ??= this.#takeAll().finally(() => {
      this.#taking = undefined;
    });
  }

  /** Takes nothing more, ends what runs and gives it back. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#unsubscribe();
    for (const { stop } of this.#running.values()) stop.abort();
    await this.#taking;
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  /** A task that was cancelled or suspended, or whose lease is void, is stopped at once. */
  #onChange(state: TaskState): void {
    if (state.run === undefined) this.#running.get(state.id)?.stop.abort();
    if (state.phase === "ready") this.wake();
  }

  async #takeAll(): Promise<void> {
    while (this.#again && !this.#isStopped) {
      this.#again = false;
      const { store, concurrency, now } = this.#options;
      const tasks = await store.list();
      for (const { task } of plan(tasks, accountsOf(tasks), now())) {
        if (this.#running.size >= concurrency || this.#isStopped) break;
        await this.#take(task);
      }
    }
  }

  async #take({ id }: TaskState): Promise<void> {
    const { store, name, leaseMs } = this.#options;
    if (this.#running.has(id)) return;
    const lease = await store.lease(id, name, leaseMs);
    const state = await store.read(id);
    if (lease === undefined || state === undefined) return;
    const stop = new AbortController();
    const done = this.#work(lease, state, stop).finally(() => {
      this.#running.delete(id);
      this.wake();
    });
    this.#running.set(id, { stop, done });
  }

  async #work(lease: Lease, state: TaskState, stop: AbortController): Promise<void> {
    const { leaseMs, onProblem } = this.#options;
    let renewedAt = this.#options.now();
    const renewal = setInterval(() => {
      void this.#renew(lease).then((renewed) => {
        if (renewed === true) renewedAt = this.#options.now();
        // Before the lease can be over for others, nothing of this run goes on here.
        const isLate = this.#options.now() - renewedAt > leaseMs * 0.7;
        if (renewed === false || isLate) stop.abort();
      });
    }, leaseMs / 3);
    // Expected: faults of the runner itself; the task is offered again, and lost runs are counted.
    try {
      await this.#options.run(lease, state, stop.signal);
    } catch (thrown) {
      onProblem(`Task ${state.number}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    } finally {
      clearInterval(renewal);
      await this.#giveBack(lease);
    }
  }

  async #renew(lease: Lease): Promise<boolean | undefined> {
    // Expected: the store cannot be reached; the lease may still be good for a while.
    return this.#options.store.renew(lease, this.#options.leaseMs).catch(() => undefined);
  }

  /** A run that ended without a decision, because it was stopped, is given back instead of being lost. */
  async #giveBack(lease: Lease): Promise<void> {
    const { store } = this.#options;
    const state = await store.read(lease.task);
    if (state?.run?.leaseId !== lease.id) return;
    const data = { reason: this.#isStopped ? "The worker stops." : "The run was stopped." };
    await store.commit({
      task: lease.task,
      expect: state.version,
      lease,
      events: [{ type: "run/released", data }],
    });
  }
}
