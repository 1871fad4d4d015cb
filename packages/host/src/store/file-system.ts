import { randomBytes } from "node:crypto";
import fs, { constants, type Stats } from "node:fs";
import { promisify } from "node:util";
import { threadNotFound } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";

/**
 * The file system calls that the store makes, so that tests can make each of them fail. Calls that may wait for the disk
 * are asynchronous; the others are quicker than handing them to another thread.
 */
export interface FileSystem {
  openSync(path: string, flags: number, mode: number): number;
  closeSync(file: number): void;
  fstatSync(file: number): Stats;
  fchmodSync(file: number, mode: number): void;
  ftruncateSync(file: number, length: number): void;
  readSync(file: number, bytes: Uint8Array, position: number): number;
  writeSync(file: number, bytes: Uint8Array): number;
  fsyncSync(file: number): void;
  fdatasyncSync(file: number): void;
  renameSync(from: string, to: string): void;
  /** Undefined if there is nothing. Does not follow a link. */
  lstatSync(path: string): Stats | undefined;
  readdirSync(path: string): readonly string[];
  read(file: number, bytes: Uint8Array, position: number): Promise<number>;
  write(file: number, bytes: Uint8Array): Promise<number>;
  fsync(file: number): Promise<void>;
  fdatasync(file: number): Promise<void>;
  chmod(path: string, mode: number): Promise<void>;
  /** Also creates the parents. A folder that exists is fine. */
  mkdirs(path: string, mode: number): Promise<void>;
  mkdir(path: string, mode: number): Promise<void>;
  readdir(path: string): Promise<readonly FolderEntry[]>;
  rename(from: string, to: string): Promise<void>;
  link(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Deletes a folder with its content; links in it are deleted, not followed. */
  removeTree(path: string): Promise<void>;
}

/** A name in a folder. */
export interface FolderEntry {
  readonly name: string;
  isDirectory(): boolean;
}

const read = promisify(fs.read);
const write = promisify(fs.write);

/** The machine's file system. */
export const NODE_FILES: FileSystem = {
  openSync: fs.openSync,
  closeSync: fs.closeSync,
  fstatSync: (file) => fs.fstatSync(file),
  fchmodSync: fs.fchmodSync,
  ftruncateSync: fs.ftruncateSync,
  readSync: (file, bytes, position) => fs.readSync(file, bytes, 0, bytes.byteLength, position),
  writeSync: (file, bytes) => fs.writeSync(file, bytes),
  fsyncSync: fs.fsyncSync,
  fdatasyncSync: fs.fdatasyncSync,
  renameSync: fs.renameSync,
  lstatSync: (path) => fs.lstatSync(path, { throwIfNoEntry: false }),
  readdirSync: (path) => fs.readdirSync(path),
  read: async (file, bytes, position) => (await read(file, bytes, 0, bytes.byteLength, position)).bytesRead,
  write: async (file, bytes) => (await write(file, bytes)).bytesWritten,
  fsync: promisify(fs.fsync),
  fdatasync: promisify(fs.fdatasync),
  chmod: fs.promises.chmod,
  mkdirs: async (path, mode) => {
    await fs.promises.mkdir(path, { recursive: true, mode });
  },
  mkdir: (path, mode) => fs.promises.mkdir(path, { mode }),
  readdir: (path) => fs.promises.readdir(path, { withFileTypes: true }),
  rename: fs.promises.rename,
  link: fs.promises.link,
  unlink: fs.promises.unlink,
  removeTree: (path) => fs.promises.rm(path, { recursive: true, force: true }),
};

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } =
  constants;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Flags for opening files of the store. None of them follows a link or blocks on a pipe. */
export const OPEN = {
  read: O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
  createNew: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
  createLog: O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW,
  update: O_RDWR | O_NOFOLLOW | O_NONBLOCK,
  appendLog: O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK,
  appendIndex: O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK,
  folder: O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
} as const;

/** An open file, and what was known of it when it was opened. */
export interface OpenFile {
  readonly file: number;
  readonly stats: Stats;
}

/** Opens a regular file; throws for a pipe, a socket or a device. */
export function openKnown(files: FileSystem, path: string, flags: number): OpenFile {
  const file = files.openSync(path, flags, FILE_MODE);
  const stats = files.fstatSync(file);
  if (stats.isFile()) return { file, stats };
  closeQuietly(files, file);
  throw new Error(`${path} is not a regular file`);
}

/** The same, without what is known of it. */
export function openRegular(files: FileSystem, path: string, flags: number): number {
  return openKnown(files, path, flags).file;
}

/** Opens a regular file and makes sure that only its owner can access it, whatever the umask and its creator. */
export function openPrivate(files: FileSystem, path: string, flags: number): number {
  const { file, stats } = openKnown(files, path, flags);
  try {
    if (hasOtherMode(stats, FILE_MODE)) files.fchmodSync(file, FILE_MODE);
    return file;
  } catch (error) {
    // A file that cannot be made private is not used.
    closeQuietly(files, file);
    throw error;
  }
}

/** Closes a file when a failure to close does not matter, because everything was read. */
export function closeQuietly(files: FileSystem, file: number): void {
  try {
    files.closeSync(file);
  } catch {
    // The descriptor is released all the same.
  }
}

/** Creates a private folder and its parents, or makes an existing folder private. */
export async function makeFolders(files: FileSystem, path: string): Promise<void> {
  await files.mkdirs(path, FOLDER_MODE);
  await restrictFolder(files, path);
}

/** Creates a private folder; fails with EEXIST if the name is taken. */
export async function makeFolder(files: FileSystem, path: string): Promise<void> {
  await files.mkdir(path, FOLDER_MODE);
  await restrictFolder(files, path);
}

/** Makes an existing folder private. */
export async function restrictFolder(files: FileSystem, path: string): Promise<void> {
  const stats = files.lstatSync(path);
  if (stats?.isDirectory() && hasOtherMode(stats, FOLDER_MODE)) await files.chmod(path, FOLDER_MODE);
}

/** Throws unless the path is a folder, and not a link to one. */
export function assertThreadFolder(files: FileSystem, path: string, threadId: string): void {
  const stats = files.lstatSync(path);
  if (stats === undefined) throw threadNotFound(threadId);
  if (stats.isDirectory()) return;
  const message = `The folder of thread ${threadId} is a link or a file. Flint follows no links inside its store; put the folder itself there.`;
  throw new FlintError("storageFailed", message, { threadId, code: "ENOTDIR" });
}

/** Makes the names in a folder survive a power failure. */
export async function syncFolder(files: FileSystem, path: string): Promise<void> {
  const folder = files.openSync(path, OPEN.folder, 0);
  try {
    await files.fsync(folder);
  } finally {
    closeQuietly(files, folder);
  }
}

/** Writes all bytes, also if the system accepts only some of them at a time. */
export async function writeAll(files: FileSystem, file: number, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    const count = await files.write(file, bytes.subarray(done));
    if (count === 0) throw new Error("the file takes no more bytes");
    done += count;
  }
}

/** The content of a private file, or undefined if it is longer than `limit` bytes. */
export async function readWhole(files: FileSystem, path: string, limit: number): Promise<Buffer | undefined> {
  const file = openPrivate(files, path, OPEN.read);
  try {
    const { size } = files.fstatSync(file);
    if (size > limit) return undefined;
    const bytes = Buffer.allocUnsafe(size);
    let filled = 0;
    while (filled < size) {
      const count = await files.read(file, bytes.subarray(filled), filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  } finally {
    closeQuietly(files, file);
  }
}

function hasOtherMode(stats: Stats, requested: number): boolean {
  return (stats.mode & 0o777) !== requested;
}

/** Reports whether this is the name of a temporary file, which only a crash leaves behind. */
export function isTemporary(name: string): boolean {
  return name.endsWith(".tmp");
}

/** The path of a temporary file that will replace another. */
export function temporaryPath(target: string): string {
  return `${target}.${randomBytes(8).toString("hex")}.tmp`;
}

/** Replaces a file atomically: at every moment there is the old one or the new one. */
export async function replaceFile(
  files: FileSystem,
  target: string,
  bytes: Uint8Array,
  durable: boolean,
): Promise<void> {
  const temporary = temporaryPath(target);
  try {
    const file = openPrivate(files, temporary, OPEN.createNew);
    try {
      await writeAll(files, file, bytes);
      if (durable) await files.fsync(file);
    } finally {
      files.closeSync(file);
    }
    await files.rename(temporary, target);
  } catch (error) {
    // The temporary file is useless; if deleting fails too, the next opening deletes it.
    await files.unlink(temporary).catch(() => {});
    throw error;
  }
}
