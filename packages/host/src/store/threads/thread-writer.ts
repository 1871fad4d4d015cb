import type { Damage, ThreadWriter } from "@flint/core/ports";
import { closedWriter } from "@flint/core/ports";
import type { EventBody, StoredEvent, ThreadState } from "@flint/protocol";
import type { Lock } from "../files/lock.ts";
import { type ListedThread, listedThread } from "../listing/thread-list.ts";
import { type ThreadTimes, timesAfter } from "../log/log-fold.ts";
import type { LogEnd, LogWriter } from "../log/log-writer.ts";
import type { MetaFile } from "./meta-file.ts";

/** What a writer works with. */
export interface WriterParts {
  readonly threadId: string;
  readonly epoch: string;
  readonly damage: Damage;
  readonly times: ThreadTimes;
  readonly log: LogWriter;
  readonly meta: MetaFile;
  readonly lock: Lock;
  /** Makes the log durable, together with those of other threads. */
  sync(): Promise<void>;
  /** Tells the list of threads how this one looks now. */
  list(entry: ListedThread): void;
  /** Closes the log; called when nothing uses it any more. */
  close(): void;
}

/** The writer of a thread whose log is a file. */
export class JsonlWriter implements ThreadWriter {
  readonly #parts: WriterParts;
  #times: ThreadTimes;
  /** A place that a state which is not the newest may be kept with. */
  #mark: LogEnd;
  #listed: string | undefined;
  readonly #syncing = new Set<Promise<void>>();
  #closing: Promise<void> | undefined;

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#times = parts.times;
    this.#mark = parts.log.end;
  }

  get epoch(): string {
    return this.#parts.epoch;
  }

  append(bodies: readonly EventBody[], at: number): readonly StoredEvent[] {
    if (this.#closing !== undefined) throw closedWriter(this.#parts.threadId);
    const stored = this.#parts.log.append(bodies, at);
    for (const { type } of stored) this.#times = timesAfter(this.#times, type, at);
    return stored;
  }

  async sync(): Promise<void> {
    if (this.#closing !== undefined) throw closedWriter(this.#parts.threadId);
    const synced = this.#parts.sync();
    this.#syncing.add(synced);
    try {
      await synced;
    } finally {
      this.#syncing.delete(synced);
    }
  }

  checkpoint(state: ThreadState): void {
    if (this.#closing !== undefined) return;
    const { epoch, damage, log, meta } = this.#parts;
    this.#list(state);
    if (state.seq >= log.end.seq) this.#mark = log.end;
    const { seq, size } = this.#mark;
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
    this.#parts.list(entry);
  }

  async #close(): Promise<void> {
    await Promise.allSettled([...this.#syncing, this.#parts.meta.idle()]);
    try {
      this.#parts.close();
    } finally {
      await this.#parts.lock.release();
    }
  }
}
