import { isEnded, type TaskEvent, type TaskState } from "@flint/protocol";
import { MemoryStore } from "../store/memory-store.ts";
import type { RedisStore } from "../store/redis/redis-store.ts";

/** What keeping copies depends on. */
export interface TaskBackupOptions {
  readonly store: RedisStore;
  /** Writes events of a task to disk before it returns. */
  persist(task: string, events: readonly TaskEvent[]): void;
  /** What was written before. */
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
      if (this.#own.has(state.id)) this.#append(state.id, events);
    });
  }

  /** Keeps a task from now on. Returns once it is on disk. */
  async accept(task: string): Promise<void> {
    if (this.#own.has(task)) return;
    const events = await this.#options.store.events(task);
    if (events.length === 0) return;
    this.#options.persist(task, events);
    this.#keep(task, events);
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
      // Expected: Redis is away; the next check tries again.
      .catch((thrown: unknown) => this.#options.onProblem(String(thrown)))
      .finally(() => {
        this.#checking = undefined;
      });
    return this.#checking;
  }

  async #checkAll(): Promise<void> {
    for (const [task, events] of this.#own) {
      const state = await this.#copies.read(task);
      if (state === undefined || isEnded(state)) continue;
      const present = await this.#options.store.read(task);
      if ((present?.version ?? 0) > state.version)
        this.#append(task, await this.#options.store.events(task, state.version));
      else if ((present?.version ?? 0) < state.version) await this.#restore(state, events);
    }
  }

  async #restore(state: TaskState, events: readonly TaskEvent[]): Promise<void> {
    if (await this.#options.store.restore(state, events))
      this.#options.onProblem(
        `Redis had lost task ${state.number}; it was added again as it was known here.`,
      );
  }

  #append(task: string, events: readonly TaskEvent[]): void {
    const known = this.#own.get(task) ?? [];
    const fresh = events.filter(({ version }) => version > known.length);
    if (fresh.length === 0 || fresh[0]?.version !== known.length + 1) return;
    this.#options.persist(task, fresh);
    this.#keep(task, fresh);
  }

  #keep(task: string, events: readonly TaskEvent[]): void {
    if (!this.#copies.restore(task, events)) return;
    this.#own.set(task, [...(this.#own.get(task) ?? []), ...events]);
  }
}
