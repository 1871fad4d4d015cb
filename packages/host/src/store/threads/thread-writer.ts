import { closedWriter, type Damage, type ThreadWriter } from "@flint/core/ports";
import type { EventBody, StoredEvent, ThreadState } from "@flint/protocol";
import { type ListedThread, listedThread } from "../listing/thread-list.ts";
import { type ThreadTimes, timesAfter } from "../log/fold.ts";
import type { LogEnd, LogWriter } from "../log/log-writer.ts";
import type { MetaFile } from "./meta-file.ts";
import type { ThreadLock } from "./thread-locks.ts";

/** Runs an action, and cleans up if it fails. */
export async function withCleanup<Result>(
  action: () => Promise<Result>,
  cleanup: () => Promise<void>,
): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    // The first failure is the one to report.
    await cleanup().catch(() => {});
    throw error;
  }
}

/** Dependencies of a writer. */
export interface JsonlWriterOptions {
  readonly threadId: string;
  readonly epoch: string;
  readonly damage: Damage;
  readonly times: ThreadTimes;
  readonly log: LogWriter;
  readonly meta: MetaFile;
  readonly lock: ThreadLock;
  /** Syncs the log, together with those of other threads. */
  sync(): Promise<void>;
  /** Updates the list entry of the thread. */
  list(entry: ListedThread): void;
  /** Closes the log; called after the last use. */
  close(): void;
}

/** The writer of a thread whose log is a file. */
export class JsonlWriter implements ThreadWriter {
  readonly #options: JsonlWriterOptions;
  #times: ThreadTimes;
  /** An end of the log that a checkpoint of an older state can be saved with. */
  #position: LogEnd;
  #listed: string | undefined;
  readonly #syncing = new Set<Promise<void>>();
  #closing: Promise<void> | undefined;

  constructor(parts: JsonlWriterOptions) {
    this.#options = parts;
    this.#times = parts.times;
    this.#position = parts.log.end;
  }

  get epoch(): string {
    return this.#options.epoch;
  }

  append(bodies: readonly EventBody[], at: number): readonly StoredEvent[] {
    if (this.#closing !== undefined) throw closedWriter(this.#options.threadId);
    const stored = this.#options.log.append(bodies, at);
    for (const { type } of stored) this.#times = timesAfter(this.#times, type, at);
    return stored;
  }

  async sync(): Promise<void> {
    if (this.#closing !== undefined) throw closedWriter(this.#options.threadId);
    const synced = this.#options.sync();
    this.#syncing.add(synced);
    try {
      await synced;
    } finally {
      this.#syncing.delete(synced);
    }
  }

  checkpoint(state: ThreadState): void {
    if (this.#closing !== undefined) return;
    const { epoch, damage, log, meta } = this.#options;
    this.#list(state);
    if (state.seq >= log.end.seq) this.#position = log.end;
    const { seq, size } = this.#position;
    if (seq <= state.seq) meta.save({ epoch, seq, offset: size, state, damage, times: this.#times });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #list(state: ThreadState): void {
    const entry = listedThread(state, this.#times);
    const text = JSON.stringify(entry);
    if (text === this.#listed) return;
    this.#listed = text;
    this.#options.list(entry);
  }

  async #close(): Promise<void> {
    await Promise.allSettled([...this.#syncing, this.#options.meta.idle()]);
    try {
      this.#options.close();
    } finally {
      this.#options.lock.release();
    }
  }
}
