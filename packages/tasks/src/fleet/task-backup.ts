import { errorMessage, FlintError, isEnded, type TaskEvent, type TaskState } from "@flint/protocol";
import { MemoryStore } from "../store/memory-store.ts";
import type { RedisStore } from "../store/redis/redis-store.ts";

/** Some events of a task. */
export interface StoredEvents {
  readonly task: string;
  readonly events: readonly TaskEvent[];
}

/** Dependencies of keeping copies. */
export interface TaskBackupOptions {
  readonly store: RedisStore;
  /** Writes events of tasks to disk before it returns. */
  persist(tasks: readonly StoredEvents[]): void;
  /** Removes a task that has ended from disk; `kept` are those that stay. If absent, all of them stay. */
  readonly forget?: ((task: string, kept: () => readonly StoredEvents[]) => void) | undefined;
  /** The events that were written before. */
  readonly stored: ReadonlyMap<string, readonly TaskEvent[]>;
  readonly checkMs: number;
  onProblem(message: string): void;
}

/**
 * Keeps the tasks that this server accepted until they have ended, and puts them back when Redis has lost them: because
 * it was flushed, restored from an old file, or replaced by a replica that lacked the last writes.
 */
export class TaskBackup {
  readonly #options: TaskBackupOptions;
  readonly #copies: MemoryStore;
  readonly #own = new Map<string, readonly TaskEvent[]>();
  readonly #unsubscribe: () => void;
  #timer: NodeJS.Timeout | undefined;
  #checking: Promise<void> | undefined;

  constructor(options: TaskBackupOptions) {
    this.#options = options;
    this.#copies = new MemoryStore({ now: Date.now });
    for (const [task, events] of options.stored) this.#keep(task, events);
    this.#unsubscribe = options.store.subscribe(({ state, events }) => {
      // Expected: the disk is full. The next check tries again, and the writer of the events is not to blame.
      try {
        if (this.#own.has(state.id)) this.#append(state.id, events);
      } catch (thrown) {
        options.onProblem(errorMessage(thrown));
      }
    });
  }

  /** Keeps tasks from now on. Returns once they are on disk; rejects if Redis has lost one before that. */
  async accept(tasks: readonly string[]): Promise<void> {
    const added = await Promise.all(
      tasks
        .filter((task) => !this.#own.has(task))
        .map(async (task) => ({ task, events: await this.#options.store.events(task) })),
    );
    const present = added.filter(({ events }) => events.length > 0);
    this.#options.persist(present);
    for (const { task, events } of present) this.#keep(task, events);
    const lost = added.length - present.length;
    if (lost > 0)
      throw new FlintError(
        "storageFailed",
        `Redis has lost ${lost} of the ${added.length} tasks just added. Add those again that flint tasks does not list.`,
      );
  }

  /** Compares with Redis now and then. */
  start(): void {
    this.#timer = setInterval(() => void this.check(), this.#options.checkMs);
    this.#timer.unref();
    void this.check();
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    clearInterval(this.#timer);
    await this.#checking;
  }

  /** Puts back what Redis has lost. */
  check(): Promise<void> {
    this.#checking ??= this.#checkAll()
      // Expected: Redis is away, or the disk is full; the next check tries again.
      .catch((thrown: unknown) => this.#options.onProblem(errorMessage(thrown)))
      .finally(() => {
        this.#checking = undefined;
      });
    return this.#checking;
  }

  async #checkAll(): Promise<void> {
    for (const [task, events] of [...this.#own]) {
      const state = await this.#copies.read(task);
      if (state === undefined) continue;
      if (isEnded(state)) {
        this.#forget(task);
        continue;
      }
      const present = await this.#options.store.read(task);
      if ((present?.version ?? 0) > state.version)
        this.#append(task, await this.#options.store.events(task, state.version));
      else if ((present?.version ?? 0) < state.version) await this.#restore(state, events);
    }
  }

  async #restore(state: TaskState, events: readonly TaskEvent[]): Promise<void> {
    const outcome = await this.#options.store.restore(state, events);
    if (outcome === "removed") this.#forget(state.id);
    if (outcome === "restored")
      this.#options.onProblem(
        `Redis had lost task ${state.number}; it was added again as it was known here.`,
      );
  }

  /** A task that has ended or was removed is not put back. If it is retried, it is accepted again. */
  #forget(task: string): void {
    const { forget } = this.#options;
    if (forget === undefined || !this.#own.delete(task)) return;
    void this.#copies.remove(task);
    forget(task, () => [...this.#own].map(([id, events]) => ({ task: id, events })));
  }

  #append(task: string, events: readonly TaskEvent[]): void {
    const known = this.#own.get(task) ?? [];
    const fresh = events.filter(({ version }) => version > known.length);
    if (fresh.length === 0 || fresh[0]?.version !== known.length + 1) return;
    this.#options.persist([{ task, events: fresh }]);
    this.#keep(task, fresh);
  }

  #keep(task: string, events: readonly TaskEvent[]): void {
    if (!this.#copies.restore(task, events)) return;
    this.#own.set(task, [...(this.#own.get(task) ?? []), ...events]);
  }
}
