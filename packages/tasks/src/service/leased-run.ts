import { errorMessage, type TaskState } from "@flint/protocol";
import type { Lease, TaskStore } from "../store/task-store.ts";

/** Dependencies of carrying out a run. */
export interface LeasedRunOptions {
  readonly store: TaskStore;
  readonly leaseMs: number;
  /** Carries a task on until it waits for something. */
  run(lease: Lease, state: TaskState, signal: AbortSignal): Promise<void>;
  onProblem(message: string): void;
}

/** A run is stopped once its lease could not be renewed for this part of its time, before others may have the task. */
const SILENCE = 0.7;

/** One run under its lease: renews it, stops the run when that fails, and gives back what was not finished. */
export class LeasedRun {
  readonly #options: LeasedRunOptions;
  readonly #lease: Lease;
  readonly #stop = new AbortController();
  /** The reason the run was stopped, for the task's log. */
  #reason = "The run was stopped.";
  #guard: NodeJS.Timeout | undefined;
  /** On a clock that only goes forward: the time of day may be set back. */
  #leaseFrom: number;

  constructor(options: LeasedRunOptions, lease: Lease) {
    this.#options = options;
    this.#lease = lease;
    this.#leaseFrom = performance.now();
  }

  /** Ends the run; what it began does not count. */
  stop(reason?: string): void {
    if (reason !== undefined) this.#reason = reason;
    this.#stop.abort();
  }

  /** Resolves when the run is over and the task was given back if it has to be. Never rejects. */
  async work(state: TaskState): Promise<void> {
    const { leaseMs, onProblem, run } = this.#options;
    this.#setGuard();
    const renewal = setInterval(() => void this.#renew(), leaseMs / 3);
    // Expected: faults of the runner itself; the task is offered again, and lost runs are counted.
    try {
      await run(this.#lease, state, this.#stop.signal);
    } catch (thrown) {
      onProblem(`Task ${state.number}: ${errorMessage(thrown)}`);
    } finally {
      clearInterval(renewal);
      clearTimeout(this.#guard);
    }
    // Expected: the store cannot be reached; the lease expires.
    await this.#giveBack().catch((thrown: unknown) => onProblem(`Task ${state.number}: ${String(thrown)}`));
  }

  async #renew(): Promise<void> {
    const { store, leaseMs } = this.#options;
    const asked = performance.now();
    // Expected: the store cannot be reached; the lease may still be good for a while.
    const renewed = await store.renew(this.#lease, leaseMs).catch(() => undefined);
    if (renewed === false) this.stop();
    if (renewed !== true) return;
    this.#leaseFrom = asked;
    this.#setGuard();
  }

  /** A timer and not the answer to a renewal: while the store is silent there is no answer. */
  #setGuard(): void {
    clearTimeout(this.#guard);
    const left = this.#leaseFrom + this.#options.leaseMs * SILENCE - performance.now();
    this.#guard = setTimeout(() => this.stop(), Math.max(0, left));
  }

  /** A run that ended without a decision, because it was stopped, is given back instead of being lost. */
  async #giveBack(): Promise<void> {
    const { store } = this.#options;
    const lease = this.#lease;
    // Most runs have ended with a decision of their own, and nothing more has to be asked.
    const known = store.known(lease.task);
    if (known !== undefined && known.fence >= lease.fence && known.run?.leaseId !== lease.id) return;
    const state = await within(store.read(lease.task), this.#options.leaseMs);
    if (state?.run?.leaseId !== lease.id) return;
    const events = [{ type: "run/released", data: { reason: this.#reason } }] as const;
    await within(
      store.commit({ task: lease.task, expect: state.version, lease, events }),
      this.#options.leaseMs,
    );
  }
}

/** The same, but not for ever: a store that is away answers when it is back, and the lease is over by then. */
async function within<Value>(promise: Promise<Value>, milliseconds: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("The store does not answer.")), milliseconds);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
