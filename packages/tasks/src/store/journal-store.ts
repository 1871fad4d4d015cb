import { LineFile, type LineFileOptions } from "@flint/host/line-file";
import { isRecord, type TaskEvent, type TaskState } from "@flint/protocol";
import { MemoryStore } from "./memory-store.ts";
import { readStoredEvent } from "./stored-event.ts";
import type { Lease, LostRun, NewTask, TaskChange, TaskStore, TaskWrite, WriteResult } from "./task-store.ts";

/** The dependencies of a journal. If it is durable, an answer waits until the disk has it. */
export interface JournalOptions extends LineFileOptions {
  readonly now: () => number;
  /** The clock of leases, which only goes forward: a machine that slept or got the right time loses no run. */
  readonly elapsed?: (() => number) | undefined;
  readonly onDamage?: ((problem: string) => void) | undefined;
}

/**
 * Tasks in one file of this machine, a line per event. Owned by one server at a time. Every line is written before it
 * counts; many writers share one sync to disk.
 */
export class JournalStore implements TaskStore {
  readonly #file: LineFile;
  readonly #memory: MemoryStore;
  /** Set if it has lines that cannot be read, which are left for the user to look at. */
  readonly #isDamaged: boolean;
  #isClosed = false;

  private constructor(file: LineFile, memory: MemoryStore, isDamaged: boolean) {
    this.#file = file;
    this.#memory = memory;
    this.#isDamaged = isDamaged;
    this.#compact();
  }

  /** Opens a journal, or makes it. A last line that was cut off is removed; a damaged one costs only its own event. */
  static async open(options: JournalOptions): Promise<JournalStore> {
    const { now, elapsed = () => performance.now(), path, onDamage } = options;
    let file: LineFile | undefined;
    const persist = (task: string, events: readonly TaskEvent[]) => file?.append(linesOf(task, events));
    const memory = new MemoryStore({ now, elapsed, persist });
    const damaged: number[] = [];
    let count = 0;
    file = await LineFile.open(options, (line) => {
      count += 1;
      const read = readLine(line);
      if (read === undefined || !restore(memory, read)) damaged.push(count);
    });
    for (const number of damaged) onDamage?.(`Line ${number} of ${path} cannot be read.`);
    return new JournalStore(file, memory, damaged.length > 0);
  }

  async add(task: NewTask): Promise<TaskState> {
    const state = await this.#memory.add(task);
    await this.#file.sync();
    return state;
  }

  async commit(write: TaskWrite): Promise<WriteResult> {
    const result = await this.#memory.commit(write);
    if (result.status === "ok" && write.events.length > 0) await this.#file.sync();
    return result;
  }

  async lease(task: string, worker: string, milliseconds: number): Promise<Lease | undefined> {
    const lease = await this.#memory.lease(task, worker, milliseconds);
    if (lease !== undefined) await this.#file.sync();
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

  known(task: string): TaskState | undefined {
    return this.#memory.known(task);
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
    this.#file.append([JSON.stringify({ task, removed: true })]);
    await this.#memory.remove(task);
    await this.#file.sync();
    this.#compact();
    return true;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // Expected: it could not be synced, which those who wrote know.
    await this.#file.sync().catch(() => undefined);
    await this.#memory.close();
    this.#file.close();
  }

  /** Leaves out the tasks that were removed, but not their numbers: they are never given to others. */
  #compact(): void {
    if (this.#isDamaged) return;
    const count = () => [...this.#memory.stored()].reduce((sum, { events }) => sum + events.length, 1);
    this.#file.compact(count, () => [
      JSON.stringify({ numbered: this.#memory.lastNumber }),
      ...[...this.#memory.stored()].flatMap(({ task, events }) => linesOf(task, events)),
    ]);
  }
}

/** Puts back what a line says; false if it does not follow on those before. */
function restore(memory: MemoryStore, read: JournalLine): boolean {
  if ("event" in read) return memory.restore(read.task, [read.event]);
  if ("numbered" in read) memory.skipNumbers(read.numbered);
  else void memory.remove(read.task);
  return true;
}

function linesOf(task: string, events: readonly TaskEvent[]): string[] {
  return events.map((event) => JSON.stringify({ task, ...event }));
}

type JournalLine =
  | { readonly numbered: number }
  | { readonly task: string; readonly removed: true }
  | { readonly task: string; readonly event: TaskEvent };

function readLine(line: string): JournalLine | undefined {
  // Expected: a line that a fault of the disk has damaged.
  try {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value)) return undefined;
    if (Number.isSafeInteger(value.numbered)) return { numbered: Number(value.numbered) };
    if (typeof value.task !== "string") return undefined;
    if (value.removed === true) return { task: value.task, removed: true };
    const { task, ...event } = value;
    const stored = readStoredEvent(event);
    return stored === undefined ? undefined : { task, event: stored };
  } catch {
    return undefined;
  }
}
