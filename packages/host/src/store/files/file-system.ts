import fs, { type Stats } from "node:fs";
import { promisify } from "node:util";

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
