import { constants } from "node:fs";
import { basename, dirname, join } from "node:path";
import { storageFailed } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import {
  closeQuietly,
  type FileSystem,
  isTemporary,
  makeFolders,
  NODE_FILES,
  OPEN,
  openPrivate,
  syncFolder,
  temporaryPath,
} from "./file-system.ts";

/** The dependencies of a file of lines. */
export interface LineFileOptions {
  readonly path: string;
  /** True if lines are synced to the disk; otherwise a power failure may lose the last ones. */
  readonly durable?: boolean | undefined;
  /** The most bytes that it may have. */
  readonly limit?: number | undefined;
  /** The number of lines that it has at least when it is compacted. */
  readonly compactFrom?: number | undefined;
  readonly files?: FileSystem | undefined;
}

/** The machine's file system, and what tests may replace of it. */
export { type FileSystem, NODE_FILES };

const LIMIT = 256 * 1024 * 1024;
const LF = 10;
/** A file is read in pieces, so that a long one leaves little garbage behind. */
const PIECE_BYTES = 64 * 1024;
/** A file with fewer lines is not worth rewriting. */
const COMPACT_FROM = 1000;

/**
 * A private file to which this process alone appends lines. What an append could not write completely is cut off again,
 * so that every line in it was appended as a whole. Calls throw `storageFailed`.
 */
export class LineFile {
  readonly #path: string;
  readonly #files: FileSystem;
  readonly #durable: boolean;
  readonly #limit: number;
  readonly #compactFrom: number;
  #file: number;
  #count = 0;
  /** With how many lines it is looked at next. */
  #compactAt: number;
  /** Offset of the end of the last complete line. */
  #size = 0;
  /** Set if something may be after that. */
  #isTorn = false;
  /** After a failed sync the kernel may have dropped what it could not write, and a later sync would succeed. */
  #syncFailure: FlintError | undefined;
  #syncing: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  private constructor(options: LineFileOptions) {
    const { path, durable = true, limit = LIMIT, compactFrom = COMPACT_FROM, files = NODE_FILES } = options;
    this.#compactFrom = compactFrom;
    this.#compactAt = compactFrom;
    this.#path = path;
    this.#files = files;
    this.#durable = durable;
    this.#limit = limit;
    this.#file = openPrivate(files, path, OPEN.appendLog | constants.O_CREAT);
  }

  /** Opens a file, or makes it, and gives each line that it has to `onLine`. A last line that was cut off is removed. */
  static async open(options: LineFileOptions, onLine: (line: string) => void): Promise<LineFile> {
    const { path, files = NODE_FILES, durable = true } = options;
    let file: LineFile | undefined;
    try {
      await makeFolders(files, dirname(path));
      file = new LineFile(options);
      file.#readLines(onLine);
      await removeTemporary(files, path);
      if (durable) await syncFolder(files, dirname(path));
      return file;
    } catch (thrown) {
      if (file !== undefined) closeQuietly(files, file.#file);
      throw storageFailed(`${path} could not be opened`, thrown, { path });
    }
  }

  /** Appends all of these lines, or throws; then none of them is in the file. */
  append(lines: readonly string[]): void {
    if (this.#syncFailure !== undefined) throw this.#syncFailure;
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    if (this.#size + bytes.length > this.#limit)
      throw new FlintError("storageFailed", `${this.#path} may have ${this.#limit} bytes and is full.`);
    try {
      this.#cutBack();
      this.#isTorn = true;
      for (let done = 0; done < bytes.length; ) done += this.#writeSome(bytes.subarray(done));
    } catch (thrown) {
      this.#tryToCutBack();
      throw storageFailed(`${this.#path} could not be written`, thrown, { path: this.#path });
    }
    this.#isTorn = false;
    this.#size += bytes.length;
    this.#count += lines.length;
  }

  /**
   * Rewrites the file with these lines alone, if at least half of it is something else; `count` says how many they are. At
   * every moment there is the old file or the new one; if there is no room for the new one, the old one stays.
   */
  compact(count: () => number, lines: () => readonly string[]): void {
    if (this.#count < this.#compactAt || this.#syncing !== undefined || this.#syncFailure !== undefined)
      return;
    const kept = count();
    const isReplaced = kept * 2 <= this.#count && this.#replace(lines());
    this.#compactAt = Math.max(isReplaced ? 0 : this.#count, kept * 2) + this.#compactFrom;
  }

  /** Resolves once everything appended so far is on the disk. Calls during a sync share the next one. */
  sync(): Promise<void> {
    if (!this.#durable) return Promise.resolve();
    if (this.#syncing !== undefined) {
      this.#next ??= this.#syncing.then(this.#syncAgain, this.#syncAgain);
      return this.#next;
    }
    this.#syncing = this.#syncOnce().finally(() => {
      this.#syncing = undefined;
    });
    return this.#syncing;
  }

  /** Like `sync`, and waits for the disk. */
  syncNow(): void {
    if (!this.#durable) return;
    if (this.#syncFailure !== undefined) throw this.#syncFailure;
    try {
      this.#files.fdatasyncSync(this.#file);
    } catch (thrown) {
      throw this.#syncFailed(thrown);
    }
  }

  /** No sync may be under way. */
  close(): void {
    this.#files.closeSync(this.#file);
  }

  readonly #syncAgain = (): Promise<void> => {
    this.#next = undefined;
    return this.sync();
  };

  async #syncOnce(): Promise<void> {
    if (this.#syncFailure !== undefined) throw this.#syncFailure;
    await this.#files.fdatasync(this.#file).catch((thrown: unknown) => {
      throw this.#syncFailed(thrown);
    });
  }

  #syncFailed(thrown: unknown): FlintError {
    const what = `${this.#path} could not be synced to the disk, and nothing more is stored until Flint is restarted`;
    this.#syncFailure = storageFailed(what, thrown, { path: this.#path });
    return this.#syncFailure;
  }

  #replace(lines: readonly string[]): boolean {
    const files = this.#files;
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    const temporary = temporaryPath(this.#path);
    const old = this.#file;
    let file: number | undefined;
    // Expected: the disk is full.
    try {
      file = openPrivate(files, temporary, OPEN.createLog);
      for (let done = 0; done < bytes.length; ) done += this.#writeSome(bytes.subarray(done), file);
      if (this.#durable) files.fsyncSync(file);
      files.renameSync(temporary, this.#path);
    } catch {
      if (file !== undefined) closeQuietly(files, file);
      files.unlink(temporary).catch(() => undefined);
      return false;
    }
    this.#file = file;
    this.#size = bytes.length;
    this.#count = lines.length;
    this.#isTorn = false;
    closeQuietly(files, old);
    if (this.#durable) this.#syncName();
    return true;
  }

  /** Until the folder has the new name on the disk, nothing that is appended is safe. */
  #syncName(): void {
    // Expected: the disk fails. Those who append next learn it.
    try {
      const folder = this.#files.openSync(dirname(this.#path), OPEN.folder, 0);
      try {
        this.#files.fsyncSync(folder);
      } finally {
        closeQuietly(this.#files, folder);
      }
    } catch (thrown) {
      this.#syncFailed(thrown);
    }
  }

  #readLines(onLine: (line: string) => void): void {
    const { size } = this.#files.fstatSync(this.#file);
    if (size > this.#limit)
      throw new FlintError(
        "storageFailed",
        `${this.#path} has ${size} bytes and may have ${this.#limit}. Move it away to start a new one.`,
      );
    // Grows to the longest line. What it has at its start was read and is not a whole line yet.
    let piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size));
    for (let [done, rest] = [0, 0]; done < size; ) {
      if (rest === piece.length)
        piece = Buffer.concat([piece], Math.min(piece.length * 2, rest + size - done));
      const room = piece.subarray(rest, rest + size - done);
      const count = this.#files.readSync(this.#file, room, done);
      if (count === 0) throw new Error("it became shorter while it was read");
      done += count;
      rest = this.#takeLines(piece.subarray(0, rest + count), onLine);
      this.#size = done - rest;
    }
    this.#isTorn = this.#size < size;
    this.#cutBack();
  }

  /** Gives the whole lines to `onLine` and moves the rest to the start; returns how long that is. */
  #takeLines(bytes: Buffer, onLine: (line: string) => void): number {
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      this.#count += 1;
      onLine(bytes.toString("utf8", start, end));
      start = end + 1;
    }
    return bytes.copy(bytes, 0, start);
  }

  #cutBack(): void {
    if (this.#isTorn) this.#files.ftruncateSync(this.#file, this.#size);
    this.#isTorn = false;
  }

  #tryToCutBack(): void {
    // Expected: even this fails; the next append tries again before it writes.
    try {
      this.#cutBack();
    } catch {}
  }

  #writeSome(bytes: Buffer, file = this.#file): number {
    const count = this.#files.writeSync(file, bytes);
    if (count === 0) throw new Error("the file takes no more bytes");
    return count;
  }
}

/** Deletes what a process left that died while it rewrote the file. */
async function removeTemporary(files: FileSystem, path: string): Promise<void> {
  const folder = dirname(path);
  const left = files
    .readdirSync(folder)
    .filter((name) => name.startsWith(`${basename(path)}.`) && isTemporary(name));
  for (const name of left) await files.unlink(join(folder, name));
}
