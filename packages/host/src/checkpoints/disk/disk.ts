import { isUtf8 } from "node:buffer";
import fs, { type Stats } from "node:fs";
import { promisify } from "node:util";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY, O_APPEND } = fs.constants;

/** How files are opened; none of these follows a link, and none waits for a pipe. */
export const OPEN_FLAGS = {
  read: O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
  createNew: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
  append: O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK,
  folder: O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
} as const;

/** What a folder holds under one name. */
export interface Named {
  readonly name: string;
  isDirectory(): boolean;
}

/**
 * The few calls of the file system that checkpoints make, so that a test can let each of them fail. Paths are texts
 * as `path-text.ts` makes them. All but `sync` are done at once: each is short, and whoever makes many pauses.
 */
export interface Disk {
  /** Undefined if there is nothing. Tells of a link itself, not of what it leads to. */
  stat(path: string): Stats | undefined;
  list(path: string): readonly Named[];
  open(path: string, flags: number, mode: number): number;
  statOpen(file: number): Stats;
  read(file: number, bytes: Uint8Array, position: number): number;
  write(file: number, bytes: Uint8Array): number;
  setMode(file: number, mode: number): void;
  sync(file: number): Promise<void>;
  close(file: number): void;
  readLink(path: string): string;
  makeLink(target: string, path: string): void;
  makeFolder(path: string, mode: number): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  removeFolder(path: string): void;
  /** Says that a file is still in use. */
  touch(path: string): void;
  realPath(path: string): string;
  /** Deletes a folder of our own with all that is in it; links in it are deleted, not followed. */
  removeTree(path: string): Promise<void>;
}

/** The file system of the machine. */
export const NODE_DISK: Disk = {
  stat: (path) => statOrNothing(nativePath(path)),
  list,
  open: (path, flags, mode) => fs.openSync(nativePath(path), flags, mode),
  statOpen: (file) => fs.fstatSync(file),
  read: (file, bytes, position) => fs.readSync(file, bytes, 0, bytes.byteLength, position),
  write: (file, bytes) => fs.writeSync(file, bytes),
  setMode: fs.fchmodSync,
  sync: promisify(fs.fsync),
  close: fs.closeSync,
  readLink: (path) => textOf(fs.readlinkSync(nativePath(path), { encoding: "buffer" })),
  makeLink: (target, path) => fs.symlinkSync(nativePath(target), nativePath(path)),
  makeFolder: (path, mode) => fs.mkdirSync(nativePath(path), { mode }),
  rename: (from, to) => fs.renameSync(nativePath(from), nativePath(to)),
  unlink: (path) => fs.unlinkSync(nativePath(path)),
  removeFolder: (path) => fs.rmdirSync(nativePath(path)),
  touch: (path) => fs.utimesSync(nativePath(path), new Date(), new Date()),
  realPath: (path) => textOf(fs.realpathSync.native(nativePath(path), { encoding: "buffer" })),
  removeTree: (path) => fs.promises.rm(path, { recursive: true, force: true }),
};

/** What is in a file that is at most `limit` bytes long; undefined if it is longer or no plain file. */
export function readFile(disk: Disk, path: string, limit: number): Buffer | undefined {
  const file = disk.open(path, OPEN_FLAGS.read, 0);
  try {
    const stats = disk.statOpen(file);
    if (!stats.isFile() || stats.size > limit) return undefined;
    const bytes = Buffer.allocUnsafe(stats.size);
    let filled = 0;
    while (filled < bytes.length) {
      const count = disk.read(file, bytes.subarray(filled), filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  } finally {
    disk.close(file);
  }
}

/** Writes all bytes, also if the system takes them in several portions. */
export function writeAll(disk: Disk, file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.byteLength; ) {
    const count = disk.write(file, bytes.subarray(done));
    if (count === 0) throw new Error("the file takes no more bytes");
    done += count;
  }
}

function statOrNothing(path: string | Buffer): Stats | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // A file where a folder would have to be: there is nothing behind it.
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return undefined;
    throw error;
  }
}

function list(path: string): readonly Named[] {
  const named = fs.readdirSync(nativePath(path), { withFileTypes: true });
  // The sign for what could not be decoded: only then the bytes themselves are needed.
  if (named.every(({ name }) => !name.includes("\uFFFD"))) return named;
  const names = fs.readdirSync(nativePath(path), { encoding: "buffer" }).map(textOf);
  return names.map((name) => ({
    name,
    isDirectory: () => statOrNothing(nativePath(`${path}/${name}`))?.isDirectory() === true,
  }));
}

/** How long work goes on before others have their turn. */
const SLICE_MS = 6;

/** Cuts long work into short pieces, so that nobody else waits for the whole of it. */
export class TimeSlice {
  #since = performance.now();

  /** Whether it is time to let others have their turn. */
  get isOver(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  /** Lets everybody else have a turn. */
  async pause(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}

/** A half character that stands for one byte of a name that is not UTF-8; in whole characters it does not occur. */
const ESCAPED = /[\uDC80-\uDCFF]/gu;
const ESCAPE_BASE = 0xdc00;
/** Quick to say no: a path of plain letters cannot hold any of these. */
const HALF = /[\uDC80-\uDCFF]/;

/**
 * A name as text from which its exact bytes can be had again: every byte that is not UTF-8 stands as half a character.
 * Names of files need not be text at all.
 */
export function textOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    text +=
      length === 0
        ? String.fromCharCode(ESCAPE_BASE + (bytes[at] ?? 0))
        : bytes.toString("utf8", at, at + length);
    at += Math.max(1, length);
  }
  return text;
}

/** The path that the file system understands. */
export function nativePath(path: string): string | Buffer {
  if (!HALF.test(path) || path.search(ESCAPED) === -1) return path;
  const parts: Buffer[] = [];
  for (const character of path) {
    const code = character.charCodeAt(0);
    const isByte = character.length === 1 && code >= 0xdc80 && code <= 0xdcff;
    parts.push(isByte ? Buffer.of(code - ESCAPE_BASE) : Buffer.from(character, "utf8"));
  }
  return Buffer.concat(parts);
}

/** A path as people can read it: a byte that is no text is shown as `\xNN`. */
export function shownPath(path: string): string {
  return path.replace(ESCAPED, (half) => `\\x${(half.charCodeAt(0) - ESCAPE_BASE).toString(16)}`);
}

/** How many bytes the character at this place has; 0 if there is none. */
function characterLength(bytes: Buffer, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length += 1) {
    if (isUtf8(bytes.subarray(at, at + length))) return length;
  }
  return 0;
}
