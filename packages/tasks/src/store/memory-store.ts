import { mintId, reduceTask, type TaskEvent, type TaskEventBody, type TaskState } from "@flint/protocol";
import { leased } from "../decide/run.ts";
import type { Lease, LostRun, NewTask, TaskChange, TaskStore, TaskWrite, WriteResult } from "./task-store.ts";

/** The dependencies of a store in this process. */
export interface MemoryStoreOptions {
  readonly now: () => number;
  /** The clock of leases, in milliseconds; `now` if absent. */
  readonly elapsed?: (() => number) | undefined;
  readonly id?: (() => string) | undefined;
  /** Called with events before they count; if it throws, nothing has happened. */
  readonly persist?: ((task: string, events: readonly TaskEvent[]) => void) | undefined;
}

interface StoredTask {
  state: TaskState;
  readonly events: TaskEvent[];
  leaseEndsAt: number;
  /** Raised by a sweep before the loss is recorded. */
  fence: number;
}

/** A store in the memory of this process: the reference for what every store does, and the index of the journal. */
export class MemoryStore implements TaskStore {
  readonly #now: () => number;
  readonly #elapsed: () => number;
  readonly #id: () => string;
  readonly #persist: (task: string, events: readonly TaskEvent[]) => void;
  readonly #tasks = new Map<string, StoredTask>();
  readonly #keys = new Map<string, string>();
  readonly #listeners = new Set<(change: TaskChange) => void>();
  #lastNumber = 0;

  constructor({ now, elapsed = now, id, persist }: MemoryStoreOptions) {
    this.#now = now;
    this.#elapsed = elapsed;
    this.#persist = persist ?? (() => {});
    this.#id = id ?? (() => mintId(now()));
  }

  async add({ id = this.#id(), spec, by, waiting, key }: NewTask): Promise<TaskState> {
    const known = key === undefined ? undefined : this.#keys.get(key);
    const present = known === undefined ? undefined : this.#tasks.get(known);
    if (present !== undefined) return present.state;
    const number = this.#lastNumber + 1;
    const data = { spec, number, by, waiting, ...(key === undefined ? {} : { key }) };
    return this.#append(id, [{ type: "task/added", data }]);
  }

  async commit({ task, expect, lease, events }: TaskWrite): Promise<WriteResult> {
    const stored = this.#tasks.get(task);
    if (stored === undefined) return { status: "unknown" };
    if (lease !== undefined && !this.#isInForce(stored, lease)) return { status: "fenced" };
    if (stored.state.version !== expect) return { status: "stale", state: stored.state };
    return { status: "ok", state: events.length === 0 ? stored.state : this.#append(task, events) };
  }

  async lease(task: string, worker: string, milliseconds: number): Promise<Lease | undefined> {
    const stored = this.#tasks.get(task);
    if (stored === undefined || stored.state.phase !== "ready") return undefined;
    const lease: Lease = { task, runId: this.#id(), worker, fence: stored.fence + 1, id: this.#id() };
    const { runId, fence, id: leaseId } = lease;
    // Before the listeners are called: one that sweeps finds it in force. Without a run it means nothing.
    stored.leaseEndsAt = this.#elapsed() + milliseconds;
    this.#append(task, leased({ runId, worker, fence, leaseId }));
    return lease;
  }

  async renew(lease: Lease, milliseconds: number): Promise<boolean> {
    const stored = this.#tasks.get(lease.task);
    if (stored === undefined || !this.#isInForce(stored, lease)) return false;
    stored.leaseEndsAt = this.#elapsed() + milliseconds;
    return true;
  }

  async sweep(): Promise<readonly LostRun[]> {
    const lost: LostRun[] = [];
    for (const [task, stored] of this.#tasks) {
      if (stored.state.run === undefined || stored.leaseEndsAt > this.#elapsed()) continue;
      stored.fence = Math.max(stored.fence, stored.state.fence + 1);
      lost.push({ task, fence: stored.fence });
    }
    return lost;
  }

  async read(task: string): Promise<TaskState | undefined> {
    return this.#tasks.get(task)?.state;
  }

  known(task: string): TaskState | undefined {
    return this.#tasks.get(task)?.state;
  }

  async events(task: string, after = 0): Promise<readonly TaskEvent[]> {
    return (this.#tasks.get(task)?.events ?? []).filter(({ version }) => version > after);
  }

  async list(): Promise<readonly TaskState[]> {
    return [...this.#tasks.values()].map(({ state }) => state);
  }

  subscribe(listener: (change: TaskChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async remove(task: string): Promise<boolean> {
    const key = this.#tasks.get(task)?.state.key;
    if (key !== undefined) this.#keys.delete(key);
    return this.#tasks.delete(task);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
  }

  /** Applies events that were stored before; false if they do not follow on what is there. */
  restore(task: string, events: readonly TaskEvent[]): boolean {
    for (const event of events) {
      const version = this.#tasks.get(task)?.state.version ?? 0;
      if (event.version !== version + 1 || (version === 0) !== (event.type === "task/added")) return false;
      this.#apply(task, event);
    }
    return true;
  }

  /** All events of all tasks that are there. */
  *stored(): Iterable<{ readonly task: string; readonly events: readonly TaskEvent[] }> {
    for (const [task, { events }] of this.#tasks) yield { task, events };
  }

  /** The number of the last task, also if that was removed. */
  get lastNumber(): number {
    return this.#lastNumber;
  }

  /** Numbers up to this one were given to tasks that are not there any more. */
  skipNumbers(last: number): void {
    this.#lastNumber = Math.max(this.#lastNumber, last);
  }

  #append(task: string, bodies: readonly TaskEventBody[]): TaskState {
    const first = (this.#tasks.get(task)?.state.version ?? 0) + 1;
    const events = bodies.map(
      (body, index): TaskEvent => ({ ...body, version: first + index, at: this.#now() }),
    );
    this.#persist(task, events);
    for (const event of events) this.#apply(task, event);
    const state = this.#tasks.get(task)?.state;
    if (state === undefined) throw new Error(`Task ${task} is gone`);
    for (const listener of this.#listeners) listener({ state, events });
    return state;
  }

  #apply(task: string, event: TaskEvent): void {
    const stored = this.#tasks.get(task);
    const state = reduceTask(task, stored?.state, event);
    if (stored === undefined) {
      this.#tasks.set(task, {
        state,
        events: [event],
        leaseEndsAt: Number.NEGATIVE_INFINITY,
        fence: state.fence,
      });
      this.#lastNumber = Math.max(this.#lastNumber, state.number);
      if (state.key !== undefined) this.#keys.set(state.key, task);
      return;
    }
    stored.state = state;
    stored.events.push(event);
    stored.fence = Math.max(stored.fence, state.fence);
  }

  #isInForce({ state, fence, leaseEndsAt }: StoredTask, lease: Lease): boolean {
    return state.run?.leaseId === lease.id && fence === lease.fence && leaseEndsAt > this.#elapsed();
  }
}
