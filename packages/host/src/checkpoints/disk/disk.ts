import { isUtf8 } from "node:buffer";
import fs, { type Stats } from "node:fs";
import { promisify } from "node:util";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY, O_APPEND } = fs.constants;

/** Flags for opening files. None of them follows a link or blocks on a pipe. */
export const OPEN_FLAGS = {
  read: O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
  createNew: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
  append: O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK,
  folder: O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
} as const;

/** A name in a folder. */
export interface FolderEntry {
  readonly name: string;
  isDirectory(): boolean;
}

/**
 * The file system calls that checkpoints make, so that tests can make each of them fail. Paths are strings as returned by
 * `decodePath`. All but `sync` and `removeTree` are synchronous: each is short, and loops yield with a `TimeSlice`.
 */
export interface Disk {
  /** Undefined if there is nothing. Does not follow a link. */
  stat(path: string): Stats | undefined;
  list(path: string): readonly FolderEntry[];
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
  /** Gives a file a second name. Throws EEXIST if the name is taken. */
  link(from: string, to: string): void;
  unlink(path: string): void;
  removeFolder(path: string): void;
  /** Marks a file as in use. */
  touch(path: string): void;
  realPath(path: string): string;
  /** Deletes one of Flint's own folders with its content; links in it are deleted, not followed. */
  removeTree(path: string): Promise<void>;
}

/** The file system of the machine. */
export const NODE_DISK: Disk = {
  stat: (path) => statIfExists(encodePath(path)),
  list,
  open: (path, flags, mode) => fs.openSync(encodePath(path), flags, mode),
  statOpen: (file) => fs.fstatSync(file),
  read: (file, bytes, position) => fs.readSync(file, bytes, 0, bytes.byteLength, position),
  write: (file, bytes) => fs.writeSync(file, bytes),
  setMode: fs.fchmodSync,
  sync: promisify(fs.fsync),
  close: fs.closeSync,
  readLink: (path) => decodePath(fs.readlinkSync(encodePath(path), { encoding: "buffer" })),
  makeLink: (target, path) => fs.symlinkSync(encodePath(target), encodePath(path)),
  makeFolder: (path, mode) => fs.mkdirSync(encodePath(path), { mode }),
  rename: (from, to) => fs.renameSync(encodePath(from), encodePath(to)),
  link: (from, to) => fs.linkSync(encodePath(from), encodePath(to)),
  unlink: (path) => fs.unlinkSync(encodePath(path)),
  removeFolder: (path) => fs.rmdirSync(encodePath(path)),
  touch: (path) => fs.utimesSync(encodePath(path), new Date(), new Date()),
  realPath: (path) => decodePath(fs.realpathSync.native(encodePath(path), { encoding: "buffer" })),
  removeTree: (path) => fs.promises.rm(path, { recursive: true, force: true }),
};

/** The content of a file of at most `limit` bytes; undefined if it is longer or not a regular file. */
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

/** Writes all bytes, also if the system accepts only some of them at a time. */
export function writeAll(disk: Disk, file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.byteLength; ) {
    const count = disk.write(file, bytes.subarray(done));
    if (count === 0) throw new Error("the file takes no more bytes");
    done += count;
  }
}

function statIfExists(path: string | Buffer): Stats | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // One of its parents is not a folder, so it does not exist.
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return undefined;
    throw error;
  }
}

function list(path: string): readonly FolderEntry[] {
  const named = fs.readdirSync(encodePath(path), { withFileTypes: true });
  // The replacement character: only then are the exact bytes needed.
  if (named.every(({ name }) => !name.includes("\uFFFD"))) return named;
  const names = fs.readdirSync(encodePath(path), { encoding: "buffer" }).map(decodePath);
  return names.map((name) => ({
    name,
    isDirectory: () => statIfExists(encodePath(`${path}/${name}`))?.isDirectory() === true,
  }));
}

/** Time for which work runs before it yields. */
const SLICE_MS = 6;

/** Divides long work into short slices, so that it does not block the event loop. */
export class TimeSlice {
  #since = performance.now();

  /** Reports whether it is time to yield. */
  get isOver(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  /** Yields to other work and starts a new slice. */
  async pause(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}

/** A lone surrogate that stands for one byte that is not UTF-8; well-formed text has none. */
const ESCAPED = /[\uDC80-\uDCFF]/gu;
const ESCAPE_BASE = 0xdc00;
/** A quick check: ordinary paths have none of these. */
const HALF = /[\uDC80-\uDCFF]/;

/** Decodes a path without loss: file names need not be UTF-8, so each byte that is not becomes a lone surrogate. */
export function decodePath(bytes: Buffer): string {
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

/** The exact path for the file system. */
export function encodePath(path: string): string | Buffer {
  if (!HALF.test(path) || path.search(ESCAPED) === -1) return path;
  const parts: Buffer[] = [];
  for (const character of path) {
    const code = character.charCodeAt(0);
    const isByte = character.length === 1 && code >= 0xdc80 && code <= 0xdcff;
    parts.push(isByte ? Buffer.of(code - ESCAPE_BASE) : Buffer.from(character, "utf8"));
  }
  return Buffer.concat(parts);
}

/** A path for display: bytes that are not UTF-8 are shown as `\xNN`. */
export function displayPath(path: string): string {
  return path.replace(ESCAPED, (half) => `\\x${(half.charCodeAt(0) - ESCAPE_BASE).toString(16)}`);
}

/** The length in bytes of the character at this position; 0 if it is not UTF-8. */
function characterLength(bytes: Buffer, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length += 1) {
    if (isUtf8(bytes.subarray(at, at + length))) return length;
  }
  return 0;
}
