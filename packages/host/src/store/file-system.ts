import { randomBytes } from "node:crypto";
import fs, { constants, type Stats } from "node:fs";
import { promisify } from "node:util";
import { threadNotFound } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";

/**
 * The few calls of the file system that the store makes, so that a test can let each of them fail. What takes no
 * longer than asking another thread to do it is done at once; what may wait for the disk is not.
 */
export interface FileSystem {
  openSync(path: string, flags: number, mode: number): number;
  closeSync(file: number): void;
  fstatSync(file: number): Stats;
  fchmodSync(file: number, mode: number): void;
  ftruncateSync(file: number, length: number): void;
  readSync(file: number, bytes: Uint8Array, position: number): number;
  writeSync(file: number, bytes: Uint8Array): number;
  /** Undefined if there is nothing. Tells of a link itself, not of what it leads to. */
  lstatSync(path: string): Stats | undefined;
  readdirSync(path: string): readonly string[];
  read(file: number, bytes: Uint8Array, position: number): Promise<number>;
  write(file: number, bytes: Uint8Array): Promise<number>;
  fsync(file: number): Promise<void>;
  fdatasync(file: number): Promise<void>;
  chmod(path: string, mode: number): Promise<void>;
  /** Also makes the folders above it; a folder that exists is fine. */
  mkdirs(path: string, mode: number): Promise<void>;
  mkdir(path: string, mode: number): Promise<void>;
  readdir(path: string): Promise<readonly FolderEntry[]>;
  rename(from: string, to: string): Promise<void>;
  link(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Deletes a folder with all that is in it; links in it are deleted, not followed. */
  removeTree(path: string): Promise<void>;
}

/** A name in a folder. */
export interface FolderEntry {
  readonly name: string;
  isDirectory(): boolean;
}

const read = promisify(fs.read);
const write = promisify(fs.write);

/** The file system of the machine. */
export const NODE_FILES: FileSystem = {
  openSync: fs.openSync,
  closeSync: fs.closeSync,
  fstatSync: (file) => fs.fstatSync(file),
  fchmodSync: fs.fchmodSync,
  ftruncateSync: fs.ftruncateSync,
  readSync: (file, bytes, position) => fs.readSync(file, bytes, 0, bytes.byteLength, position),
  writeSync: (file, bytes) => fs.writeSync(file, bytes),
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

/** How a file of the store is opened; none of them follows a link, or waits for who is at the other end of a pipe. */
export const OPEN = {
  read: O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
  createNew: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
  createLog: O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW,
  appendLog: O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK,
  appendIndex: O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK,
  folder: O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
} as const;

/** Opens a plain file; throws for a pipe, a socket or a device. */
export function openPlain(files: FileSystem, path: string, flags: number): number {
  const file = files.openSync(path, flags, FILE_MODE);
  if (files.fstatSync(file).isFile()) return file;
  closeRead(files, file);
  throw new Error(`${path} is not a plain file`);
}

/** Opens a plain file and makes sure that only its owner can use it, whatever the umask is and whoever made it. */
export function openPrivate(files: FileSystem, path: string, flags: number): number {
  const file = openPlain(files, path, flags);
  try {
    if (isLoose(files.fstatSync(file), FILE_MODE)) files.fchmodSync(file, FILE_MODE);
    return file;
  } catch (error) {
    // A file that cannot be made private is not used.
    closeRead(files, file);
    throw error;
  }
}

/** Closes a file from which everything that is wanted was read, so that a failure of closing means nothing. */
export function closeRead(files: FileSystem, file: number): void {
  try {
    files.closeSync(file);
  } catch {
    // The system has let go of it all the same.
  }
}

/** Makes a private folder and the ones above it, or makes an existing one private. */
export async function makeFolders(files: FileSystem, path: string): Promise<void> {
  await files.mkdirs(path, FOLDER_MODE);
  await tightenFolder(files, path);
}

/** Makes one private folder; fails with EEXIST if the name is taken. */
export async function makeFolder(files: FileSystem, path: string): Promise<void> {
  await files.mkdir(path, FOLDER_MODE);
  await tightenFolder(files, path);
}

/** Takes away what others may do with a folder. */
export async function tightenFolder(files: FileSystem, path: string): Promise<void> {
  const stats = files.lstatSync(path);
  if (stats?.isDirectory() && isLoose(stats, FOLDER_MODE)) await files.chmod(path, FOLDER_MODE);
}

/** Throws unless there is a folder, and not a link to one. */
export function expectThreadFolder(files: FileSystem, path: string, threadId: string): void {
  const stats = files.lstatSync(path);
  if (stats === undefined) throw threadNotFound(threadId);
  if (stats.isDirectory()) return;
  const message = `The folder of thread ${threadId} is a link or a file. Flint follows no links inside its store; put the folder itself there.`;
  throw new FlintError("storageFailed", message, { threadId, code: "ENOTDIR" });
}

/** Makes the names in a folder survive a power cut. */
export async function syncFolder(files: FileSystem, path: string): Promise<void> {
  const folder = files.openSync(path, OPEN.folder, 0);
  try {
    await files.fsync(folder);
  } finally {
    closeRead(files, folder);
  }
}

/** Writes all bytes, also if the system takes them in several portions. */
export async function writeAll(files: FileSystem, file: number, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    const count = await files.write(file, bytes.subarray(done));
    if (count === 0) throw new Error("the file takes no more bytes");
    done += count;
  }
}

/** The whole content of a private file that is at most `limit` bytes long, or undefined. */
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
    closeRead(files, file);
  }
}

function isLoose(stats: Stats, wanted: number): boolean {
  return (stats.mode & 0o777) !== wanted;
}

/** Whether only a crash leaves a file of this name behind. */
export function isTemporary(name: string): boolean {
  return name.endsWith(".tmp");
}

/** The path of a new file that is going to take the place of another. */
export function temporaryPath(target: string): string {
  return `${target}.${randomBytes(8).toString("hex")}.tmp`;
}

/** Puts a whole file in the place of another: at every moment there is the old one or the new one. */
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
    // What is left of the new file is of no use; the next opening looks for it again if this fails too.
    await files.unlink(temporary).catch(() => {});
    throw error;
  }
}
