import { reduceTask, type TaskEvent, type TaskState } from "@flint/protocol";
import type { TaskChange } from "../task-store.ts";

/** The states of tasks as far as they were read, and who wants to know of changes. */
export class Replica {
  readonly #states = new Map<string, TaskState>();
  readonly #listeners = new Set<(change: TaskChange) => void>();

  get(task: string): TaskState | undefined {
    return this.#states.get(task);
  }

  get ids(): readonly string[] {
    return [...this.#states.keys()];
  }

  /** All states by number. */
  list(): readonly TaskState[] {
    return [...this.#states.values()].sort((left, right) => left.number - right.number);
  }

  /** Applies the events that follow on what is there; false if some are missing in between. */
  apply(task: string, events: readonly TaskEvent[]): boolean {
    let state = this.#states.get(task);
    const fresh = events.filter(({ version }) => version > (state?.version ?? 0));
    for (const event of fresh) {
      if (event.version !== (state?.version ?? 0) + 1) return false;
      state = reduceTask(task, state, event);
    }
    if (state === undefined || fresh.length === 0) return true;
    this.#states.set(task, state);
    for (const listener of this.#listeners) listener({ state, events: fresh });
    return true;
  }

  /** Forgets a task, because it was removed or has to be read again. */
  drop(task: string): void {
    this.#states.delete(task);
  }

  subscribe(listener: (change: TaskChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  clear(): void {
    this.#listeners.clear();
  }
}
