import { storageFailed } from "@flint/core/ports";
import type { EventBody, FlintError, StoredEvent } from "@flint/protocol";
import type { FileSystem } from "../file-system.ts";
import { decodeLine, encodeRecord, LINE_END, MAX_RECORD } from "./record.ts";

/** Where a log ends. */
export interface LogEnd {
  /** The highest number that is taken. */
  readonly seq: number;
  readonly size: number;
  /** Whether its last byte is a line end. */
  readonly terminated: boolean;
}

/** A write that failed and may have left something at the end of a log. */
interface Remains {
  /** What was to be written; the beginning of it may be there. */
  readonly bytes: Buffer;
  /** Whether a whole record of it may be there. */
  readonly holdsRecord: boolean;
}

/** Appends records to one log. There must be no other writer; see the lock. */
export class LogWriter implements SyncTarget {
  readonly #files: FileSystem;
  readonly #file: number;
  readonly #threadId: string;
  /** Folders whose names are new and not durable yet. */
  #newFolders: readonly string[];
  #seq: number;
  /** How long the log is without what a failed write left. */
  #size: number;
  #terminated: boolean;
  #remains: Remains | undefined;
  #syncedSize: number;
  #syncFailure: FlintError | undefined;

  constructor(files: FileSystem, file: number, threadId: string, end: LogEnd, newFolders: readonly string[]) {
    this.#files = files;
    this.#file = file;
    this.#threadId = threadId;
    this.#seq = end.seq;
    this.#size = end.size;
    this.#terminated = end.terminated;
    // What an earlier process wrote may not have reached the disk yet.
    this.#syncedSize = -1;
    this.#newFolders = newFolders;
  }

  get end(): LogEnd {
    return { seq: this.#seq, size: this.#size, terminated: this.#terminated };
  }

  /** Writes a line that has no number. */
  appendLine(line: string): void {
    this.#write(Buffer.from(`${line}\n`, "utf8"));
  }

  /** Writes events in one piece, or throws `storageFailed`; then none of them counts and their numbers stay free. */
  append(bodies: readonly EventBody[], at: number): readonly StoredEvent[] {
    const events = bodies.map((body, index): StoredEvent => ({ ...body, seq: this.#seq + 1 + index, at }));
    const lines = events.map((event) => encodeRecord(event.seq, at, event));
    if (lines.length === 0) return events;
    this.#checkLength(lines);
    this.#write(Buffer.from(`${lines.join("\n")}\n`, "utf8"));
    this.#seq += events.length;
    return events.map((event, index) => asWritten(event, lines[index] ?? ""));
  }

  /** Forces everything appended so far to the disk. */
  async sync(folder: (path: string) => Promise<void>): Promise<void> {
    if (this.#syncFailure !== undefined) throw this.#syncFailure;
    const size = this.#size;
    try {
      if (size !== this.#syncedSize) await this.#files.fdatasync(this.#file);
      this.#syncedSize = size;
      for (const path of this.#newFolders) await folder(path);
      this.#newFolders = [];
    } catch (error) {
      throw this.#syncFailed(error);
    }
  }

  #syncFailed(error: unknown): FlintError {
    const failure = this.#failure("could not be forced to the disk", error);
    // After an I/O error the system forgets what it could not write: a later sync would succeed without it.
    if (failure.data.code === "EIO") this.#syncFailure = failure;
    return failure;
  }

  #write(bytes: Buffer): void {
    this.#clearRemains();
    const whole = this.#terminated ? bytes : Buffer.concat([Buffer.from("\n"), bytes]);
    let done = 0;
    try {
      // One call, unless the system takes only a part: then the next one tells why.
      while (done < whole.length) done += this.#portion(whole.subarray(done));
    } catch (error) {
      this.#remains = { bytes: whole, holdsRecord: whole.subarray(1, done).includes(LINE_END) };
      this.#takeBack(this.#remains);
      throw this.#failure("could not be written", error);
    }
    this.#size += whole.length;
    this.#terminated = true;
  }

  #portion(bytes: Buffer): number {
    const count = this.#files.writeSync(this.#file, bytes);
    if (count === 0) throw new Error("the file takes no more bytes");
    return count;
  }

  /** Makes sure that nothing of a failed write is taken for a record later. */
  #clearRemains(): void {
    const remains = this.#remains;
    if (remains === undefined || this.#takeBack(remains)) return;
    try {
      if (remains.holdsRecord)
        throw new Error("an earlier write cannot be taken back. Open the thread again");
      this.#size = this.#files.fstatSync(this.#file).size;
    } catch (error) {
      throw this.#failure("could not be written", error);
    }
    // Half a line is damage that hides nothing, as long as the next record starts on a line of its own.
    this.#terminated = false;
    this.#remains = undefined;
  }

  /** Cuts off what a failed write left: nobody was told of it. Leaves alone whatever else may be there. */
  #takeBack({ bytes }: Remains): boolean {
    try {
      const length = this.#files.fstatSync(this.#file).size - this.#size;
      if (length < 0 || length > bytes.length) return false;
      const left = Buffer.alloc(length);
      const count = length === 0 ? 0 : this.#files.readSync(this.#file, left, this.#size);
      if (count !== length || !left.equals(bytes.subarray(0, length))) return false;
      if (length > 0) this.#files.ftruncateSync(this.#file, this.#size);
    } catch {
      // A disk that refuses even this; the next write tries again.
      return false;
    }
    this.#remains = undefined;
    return true;
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

/** The event as a reader will see it: text that is not well-formed is not told either. */
function asWritten(event: StoredEvent, line: string): StoredEvent {
  if (!line.includes("\ufffd")) return event;
  const read = decodeLine(line);
  return read.kind === "event" ? read.event : event;
}

/** Something that can be made to survive a power cut. */
export interface SyncTarget {
  /** `folder` makes the names in a folder durable, once a round however many targets ask for it. */
  sync(folder: (path: string) => Promise<void>): Promise<void>;
}

interface Waiter {
  readonly promise: Promise<void>;
  settle(outcome: Promise<void>): void;
}

const AT_ONCE = 3;

/**
 * Syncs many files with little work: while one round runs, whoever asks waits for the next round, in which each file
 * is synced once for everybody who asked. Only a few at a time, so that other work still gets threads to run on.
 */
export class SyncGroup {
  readonly #syncFolder: (path: string) => Promise<void>;
  #waiting = new Map<SyncTarget, Waiter>();
  #isRunning = false;

  constructor(syncFolder: (path: string) => Promise<void>) {
    this.#syncFolder = syncFolder;
  }

  /** Resolves when everything the target holds at this moment is safe; rejects if that cannot be said. */
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
    // Lets everybody who asks in this tick take part in the first round.
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
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }
}

function newWaiter(): Waiter {
  let settle: Waiter["settle"] = () => {};
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}
