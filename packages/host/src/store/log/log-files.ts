import type { Stats } from "node:fs";
import { closeQuietly, type FileSystem, OPEN, openRegular } from "../file-system.ts";

/** The number of logs that are open at once. Leaves room for clients and agents where 256 descriptors are allowed. */
const MAX_OPEN = 128;

/** The open logs of a store. The least recently used is closed when there are too many, and opened again when needed. */
export class LogFiles {
  readonly #limit: number;
  /** Least recently used first. */
  readonly #open = new Set<LogFile>();

  constructor(limit = MAX_OPEN) {
    this.#limit = limit;
  }

  /** Marks a log as open and just used, and closes others. */
  use(log: LogFile): void {
    this.#open.delete(log);
    this.#open.add(log);
    if (this.#open.size <= this.#limit) return;
    for (const other of this.#open) {
      if (other === log || !other.suspend()) continue;
      this.#open.delete(other);
      if (this.#open.size <= this.#limit) return;
    }
  }

  forget(log: LogFile): void {
    this.#open.delete(log);
  }
}

/** The log of a thread, open for appending; its descriptor may be closed while it is not used. */
export class LogFile {
  readonly path: string;
  readonly #files: FileSystem;
  readonly #pool: LogFiles;
  #descriptor: number | undefined;
  #inode: number | undefined;
  /** Metadata of the file when its descriptor was closed. */
  #closedAs: Stats | undefined;
  #holds = 0;

  constructor(files: FileSystem, pool: LogFiles, path: string, descriptor: number) {
    this.#files = files;
    this.#pool = pool;
    this.path = path;
    this.#descriptor = descriptor;
    pool.use(this);
  }

  /** The descriptor, opened again if necessary. Valid until other work runs, unless the log is held. */
  get descriptor(): number {
    this.#descriptor ??= this.#reopen();
    this.#pool.use(this);
    return this.#descriptor;
  }

  /** Reports whether the file at the path is this one. */
  get isInPlace(): boolean {
    const found = this.#files.lstatSync(this.path);
    if (this.#closedAs !== undefined) return found !== undefined && isSame(found, this.#closedAs);
    this.#inode ??= this.#files.fstatSync(this.descriptor).ino;
    return found?.ino === this.#inode;
  }

  /** Keeps the descriptor open until the returned function is called. */
  hold(): () => void {
    this.#holds += 1;
    return () => {
      this.#holds -= 1;
    };
  }

  /** Closes the descriptor until it is needed again. False if it is in use. */
  suspend(): boolean {
    if (this.#holds > 0 || this.#descriptor === undefined) return false;
    this.#closedAs = this.#files.fstatSync(this.#descriptor);
    closeQuietly(this.#files, this.#descriptor);
    this.#descriptor = undefined;
    return true;
  }

  close(): void {
    this.#pool.forget(this);
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    if (descriptor !== undefined) this.#files.closeSync(descriptor);
  }

  #reopen(): number {
    const descriptor = openRegular(this.#files, this.path, OPEN.appendLog);
    const known = this.#closedAs;
    if (known !== undefined && !isSame(this.#files.fstatSync(descriptor), known)) {
      closeQuietly(this.#files, descriptor);
      throw new Error(`${this.path} was replaced`);
    }
    this.#closedAs = undefined;
    return descriptor;
  }
}

/** Numbers of files are used again, so a replaced file may have the same; it hardly has the same size and time. */
function isSame(one: Stats, other: Stats): boolean {
  return (
    one.dev === other.dev &&
    one.ino === other.ino &&
    one.size === other.size &&
    one.birthtimeMs === other.birthtimeMs
  );
}
