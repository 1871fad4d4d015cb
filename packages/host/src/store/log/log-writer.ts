import { storageFailed } from "@flint/core/ports";
import { type EventBody, FlintError, type StoredEvent } from "@flint/protocol";
import type { FileSystem } from "../file-system.ts";
import type { LogFile } from "./log-files.ts";
import { decodeLine, encodeRecord, LINE_END, MAX_RECORD } from "./record.ts";

/** The end of a log. */
export interface LogEnd {
  /** The highest number in use. */
  readonly seq: number;
  readonly size: number;
  /** True if its last byte is a line end. */
  readonly terminated: boolean;
}

/** A failed write, which may have left something at the end of the log. */
interface FailedWrite {
  /** The bytes that were to be written; the beginning of them may be in the log. */
  readonly bytes: Buffer;
  /** True if a complete record of it may be in the log. */
  readonly mayHoldRecord: boolean;
}

/** Appends records to a log. Must be its only writer, which the lock ensures. */
export class LogWriter implements SyncTarget {
  readonly #files: FileSystem;
  readonly #file: LogFile;
  readonly #threadId: string;
  /** New folders that are not synced yet. */
  #newFolders: readonly string[];
  #seq: number;
  /** The size of the log without what a failed write left. */
  #size: number;
  #terminated: boolean;
  #failedWrite: FailedWrite | undefined;
  /** Keeps the log open while it has a failed write, whose rest must not be taken for another file. */
  #releaseFile: (() => void) | undefined;
  #syncedSize: number;
  #syncFailure: FlintError | undefined;

  constructor(
    files: FileSystem,
    file: LogFile,
    threadId: string,
    end: LogEnd,
    newFolders: readonly string[],
  ) {
    this.#files = files;
    this.#file = file;
    this.#threadId = threadId;
    this.#seq = end.seq;
    this.#size = end.size;
    this.#terminated = end.terminated;
    // Data that an earlier process wrote may not be on the disk yet.
    this.#syncedSize = -1;
    this.#newFolders = newFolders;
  }

  get end(): LogEnd {
    return { seq: this.#seq, size: this.#size, terminated: this.#terminated };
  }

  /** Writes a line without a number. */
  appendLine(line: string): void {
    this.#write(Buffer.from(`${line}\n`, "utf8"));
  }

  /** Writes events in one piece, or throws `storageFailed`; then none of them counts, and their numbers stay free. */
  append(bodies: readonly EventBody[], at: number): readonly StoredEvent[] {
    const events = bodies.map((body, index): StoredEvent => ({ ...body, seq: this.#seq + 1 + index, at }));
    const lines = events.map((event) => encodeRecord(event.seq, at, event));
    if (lines.length === 0) return events;
    this.#checkLength(lines);
    this.#checkPlace();
    this.#write(Buffer.from(`${lines.join("\n")}\n`, "utf8"));
    this.#seq += events.length;
    return events.map((event, index) => asWritten(event, lines[index] ?? ""));
  }

  /** Syncs everything appended so far to the disk. */
  async sync(folder: (path: string) => Promise<void>): Promise<void> {
    if (this.#syncFailure !== undefined) throw this.#syncFailure;
    const size = this.#size;
    const release = this.#file.hold();
    try {
      if (size !== this.#syncedSize) await this.#files.fdatasync(this.#file.descriptor);
      this.#syncedSize = size;
      for (const path of this.#newFolders) await folder(path);
      this.#newFolders = [];
    } catch (error) {
      throw this.#syncFailed(error);
    } finally {
      release();
    }
  }

  #syncFailed(error: unknown): FlintError {
    const failure = this.#failure("could not be synced to the disk", error);
    // After an I/O error the kernel drops what it could not write: a later sync would succeed without it.
    if (failure.data.code === "EIO") this.#syncFailure = failure;
    return failure;
  }

  #write(bytes: Buffer): void {
    this.#clearFailedWrite();
    const whole = this.#terminated ? bytes : Buffer.concat([Buffer.from("\n"), bytes]);
    let done = 0;
    try {
      // One call, unless the system accepts only a part; the next call then reports why.
      while (done < whole.length) done += this.#writeSome(whole.subarray(done));
    } catch (error) {
      this.#setFailedWrite({ bytes: whole, mayHoldRecord: whole.subarray(1, done).includes(LINE_END) });
      throw this.#failure("could not be written", error);
    }
    this.#size += whole.length;
    this.#terminated = true;
  }

  #setFailedWrite(failed: FailedWrite): void {
    this.#failedWrite = failed;
    this.#releaseFile ??= this.#file.hold();
    this.#truncate(failed);
  }

  #endFailedWrite(): void {
    this.#failedWrite = undefined;
    this.#releaseFile?.();
    this.#releaseFile = undefined;
  }

  #writeSome(bytes: Buffer): number {
    const count = this.#files.writeSync(this.#file.descriptor, bytes);
    if (count === 0) throw new Error("the file takes no more bytes");
    return count;
  }

  /** Makes sure that nothing of a failed write is later read as a record. */
  #clearFailedWrite(): void {
    const failed = this.#failedWrite;
    if (failed === undefined || this.#truncate(failed)) return;
    try {
      if (failed.mayHoldRecord) throw new Error("an earlier write cannot be undone. Open the thread again");
      this.#size = this.#files.fstatSync(this.#file.descriptor).size;
    } catch (error) {
      throw this.#failure("could not be written", error);
    }
    // An incomplete line hides nothing, as long as the next record starts on a new line.
    this.#terminated = false;
    this.#endFailedWrite();
  }

  /** Cuts off what a failed write left, which was never sent to a client. Leaves anything else alone. */
  #truncate({ bytes }: FailedWrite): boolean {
    try {
      const file = this.#file.descriptor;
      const length = this.#files.fstatSync(file).size - this.#size;
      if (length < 0 || length > bytes.length) return false;
      const remaining = Buffer.alloc(length);
      const count = length === 0 ? 0 : this.#files.readSync(file, remaining, this.#size);
      if (count !== length || !remaining.equals(bytes.subarray(0, length))) return false;
      if (length > 0) this.#files.ftruncateSync(file, this.#size);
    } catch {
      // Even this fails; the next write tries again.
      return false;
    }
    this.#endFailedWrite();
    return true;
  }

  /** A log that was deleted or replaced would take records that no one reads again. */
  #checkPlace(): void {
    if (this.#isInPlace()) return;
    const { path } = this.#file;
    const message = `The log ${path} was deleted or replaced while Flint was writing it, so nothing more is stored in thread ${this.#threadId}. Up to event ${this.#seq} it is in the file that was there; put that file back, or start a new thread.`;
    throw new FlintError("storageFailed", message, {
      threadId: this.#threadId,
      path,
      code: "ESTALE",
      lastSeq: this.#seq,
    });
  }

  #isInPlace(): boolean {
    try {
      return this.#file.isInPlace;
    } catch (error) {
      throw this.#failure("could not be written", error);
    }
  }

  #checkLength(lines: readonly string[]): void {
    const overlong = lines.some(
      (line) => line.length * 3 > MAX_RECORD && Buffer.byteLength(line) >= MAX_RECORD,
    );
    if (overlong)
      throw this.#failure("could not be written", new Error(`a record is larger than ${MAX_RECORD} bytes`));
  }

  #failure(what: string, error: unknown): FlintError {
    return storageFailed(`The log of thread ${this.#threadId} ${what}`, error, { threadId: this.#threadId });
  }
}

/** The event as a reader will see it: without lone surrogates. */
function asWritten(event: StoredEvent, line: string): StoredEvent {
  if (!line.includes("\ufffd")) return event;
  const read = decodeLine(line);
  return read.kind === "event" ? read.event : event;
}

/** Something that can be synced to the disk. */
export interface SyncTarget {
  /** `folder` syncs a folder, once per round however many targets request it. */
  sync(folder: (path: string) => Promise<void>): Promise<void>;
}

interface Waiter {
  readonly promise: Promise<void>;
  settle(outcome: Promise<void>): void;
}

const CONCURRENT_SYNCS = 3;

/**
 * Syncs many files with few calls: requests during one round wait for the next, in which each file is synced once for all
 * of them. Only a few run at a time, so that other work still gets threads of the pool.
 */
export class SyncGroup {
  readonly #syncFolder: (path: string) => Promise<void>;
  #waiting = new Map<SyncTarget, Waiter>();
  #isRunning = false;

  constructor(syncFolder: (path: string) => Promise<void>) {
    this.#syncFolder = syncFolder;
  }

  /** Resolves when everything the target contains now is on the disk; rejects if that is not certain. */
  request(target: SyncTarget): Promise<void> {
    let waiter = this.#waiting.get(target);
    if (waiter === undefined) {
      waiter = newWaiter();
      this.#waiting.set(target, waiter);
    }
    if (!this.#isRunning) void this.#run();
    return waiter.promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // Requests of the same tick join the first round.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const round = this.#waiting;
      this.#waiting = new Map();
      await this.#runRound(round);
    }
    this.#isRunning = false;
  }

  async #runRound(round: ReadonlyMap<SyncTarget, Waiter>): Promise<void> {
    const folders = new Map<string, Promise<void>>();
    const folder = (path: string): Promise<void> => {
      const synced = folders.get(path) ?? this.#syncFolder(path);
      folders.set(path, synced);
      return synced;
    };
    const queue = round.entries();
    const work = async (): Promise<void> => {
      for (const [target, waiter] of queue) {
        const outcome = target.sync(folder);
        waiter.settle(outcome);
        await outcome.catch(() => {});
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_SYNCS }, work));
  }
}

function newWaiter(): Waiter {
  let settle: Waiter["settle"] = () => {};
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}
