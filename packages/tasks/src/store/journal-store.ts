import { closeSync, fdatasync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { isRecord, type TaskEvent, type TaskState } from "@flint/protocol";
import { MemoryStore } from "./memory-store.ts";
import { readStoredEvent } from "./stored-event.ts";
import type { Lease, LostRun, NewTask, TaskChange, TaskStore, TaskWrite, WriteResult } from "./task-store.ts";

const sync = promisify(fdatasync);

/** What a journal depends on. */
export interface JournalOptions {
  readonly path: string;
  readonly now: () => number;
  /** Whether an answer waits until the disk has it; otherwise a power cut may lose the last seconds. */
  readonly durable?: boolean | undefined;
  readonly onDamage?: ((problem: string) => void) | undefined;
}

/**
 * Tasks in one file of this machine, a line per event. Owned by one server at a time. Every line is written before it
 * counts; many writers share one sync to disk.
 */
export class JournalStore implements TaskStore {
  readonly #file: number;
  readonly #memory: MemoryStore;
  readonly #durable: boolean;
  #syncing: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #isClosed = false;

  private constructor(file: number, { now, durable = true }: JournalOptions) {
    this.#file = file;
    this.#durable = durable;
    this.#memory = new MemoryStore({ now, persist: (task, events) => this.#write(task, events) });
  }

  /** Opens a journal, or makes it. A last line that was cut off is removed; a damaged one costs only its own event. */
  static async open(options: JournalOptions): Promise<JournalStore> {
    await mkdir(dirname(options.path), { recursive: true, mode: 0o700 });
    const text = readIfPresent(options.path);
    const end = text.lastIndexOf("\n") + 1;
    const store = new JournalStore(openSync(options.path, "a", 0o600), options);
    if (end < text.length) ftruncateSync(store.#file, Buffer.byteLength(text.slice(0, end)));
    const lines = text.slice(0, end).split("\n");
    for (const [index, line] of lines.entries()) {
      if (line === "") continue;
      const read = readLine(line);
      if (read === undefined || !store.#restore(read))
        options.onDamage?.(`Line ${index + 1} of ${options.path} cannot be read.`);
    }
    return store;
  }

  async add(task: NewTask): Promise<TaskState> {
    const state = await this.#memory.add(task);
    await this.#synced();
    return state;
  }

  async commit(write: TaskWrite): Promise<WriteResult> {
    const result = await this.#memory.commit(write);
    if (result.status === "ok" && write.events.length > 0) await this.#synced();
    return result;
  }

  async lease(task: string, worker: string, milliseconds: number): Promise<Lease | undefined> {
    const lease = await this.#memory.lease(task, worker, milliseconds);
    if (lease !== undefined) await this.#synced();
    return lease;
  }

  renew(lease: Lease, milliseconds: number): Promise<boolean> {
    return this.#memory.renew(lease, milliseconds);
  }

  sweep(): Promise<readonly LostRun[]> {
    return this.#memory.sweep();
  }

  read(task: string): Promise<TaskState | undefined> {
    return this.#memory.read(task);
  }

  events(task: string, after?: number): Promise<readonly TaskEvent[]> {
    return this.#memory.events(task, after);
  }

  list(): Promise<readonly TaskState[]> {
    return this.#memory.list();
  }

  subscribe(listener: (change: TaskChange) => void): () => void {
    return this.#memory.subscribe(listener);
  }

  async remove(task: string): Promise<boolean> {
    if ((await this.#memory.read(task)) === undefined) return false;
    writeSync(this.#file, `${JSON.stringify({ task, removed: true })}\n`);
    await this.#memory.remove(task);
    await this.#synced();
    return true;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    await this.#synced();
    this.#isClosed = true;
    await this.#memory.close();
    closeSync(this.#file);
  }

  #restore(read: JournalLine): boolean {
    if ("removed" in read) {
      void this.#memory.remove(read.task);
      return true;
    }
    return this.#memory.restore(read.task, [read.event]);
  }

  #write(task: string, events: readonly TaskEvent[]): void {
    writeSync(this.#file, events.map((event) => `${JSON.stringify({ task, ...event })}\n`).join(""));
  }

  /** Resolves once everything written so far is on disk. Calls during a sync share the next one. */
  #synced(): Promise<void> {
    if (!this.#durable) return Promise.resolve();
    if (this.#syncing === undefined) {
      this.#syncing = sync(this.#file).finally(() => {
        this.#syncing = undefined;
      });
      return this.#syncing;
    }
    this.#next ??= this.#syncing.then(() => {
      this.#next = undefined;
      return this.#synced();
    });
    return this.#next;
  }
}

type JournalLine =
  | { readonly task: string; readonly removed: true }
  | { readonly task: string; readonly event: TaskEvent };

function readLine(line: string): JournalLine | undefined {
  // Expected: a line that a fault of the disk has damaged.
  try {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value) || typeof value.task !== "string") return undefined;
    if (value.removed === true) return { task: value.task, removed: true };
    const { task, ...event } = value;
    const stored = readStoredEvent(event);
    return stored === undefined ? undefined : { task, event: stored };
  } catch {
    return undefined;
  }
}

function readIfPresent(path: string): string {
  // Expected: there is no journal yet.
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
