import { randomBytes } from "node:crypto";
import { codeOf } from "@flint/core/ports";
import { hashOf } from "../scan/entry.ts";
import { type Disk, OPEN_FLAGS, readFile, writeAll } from "./disk.ts";

/** Contents by their hash. A content appears whole or not at all, and is never changed. */
export class Blobs {
  readonly folder: string;
  readonly #disk: Disk;

  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.folder = folder;
  }

  /** Keeps a content and gives its hash. What is there already is marked as in use. */
  put(bytes: Uint8Array): string {
    const hash = hashOf(bytes);
    if (!this.touch(hash)) this.#write(hash, bytes);
    return hash;
  }

  /** Says that a content is in use, so that it is not collected before it has an owner. False if it is not there. */
  touch(hash: string): boolean {
    const path = this.pathOf(hash);
    // A new content is the rule when a workspace is first looked at, and an error costs more than a look.
    if (this.#disk.stat(path) === undefined) return false;
    try {
      this.#disk.touch(path);
      return true;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return false;
      throw error;
    }
  }

  /** A content; undefined if it is lost or damaged. */
  get(hash: string, limit: number): Buffer | undefined {
    try {
      const bytes = readFile(this.#disk, this.pathOf(hash), limit);
      return bytes !== undefined && hashOf(bytes) === hash ? bytes : undefined;
    } catch {
      // Whatever keeps it from being read, it cannot be put back.
      return undefined;
    }
  }

  pathOf(hash: string): string {
    return `${this.folder}/${hash.slice(0, 2)}/${hash.slice(2)}`;
  }

  #write(hash: string, bytes: Uint8Array): void {
    const path = this.pathOf(hash);
    const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
    const file = this.#create(temporary);
    try {
      try {
        writeAll(this.#disk, file, bytes);
      } finally {
        this.#disk.close(file);
      }
      this.#disk.rename(temporary, path);
    } catch (error) {
      this.#discard(temporary);
      throw error;
    }
  }

  #create(path: string): number {
    try {
      return this.#disk.open(path, OPEN_FLAGS.createNew, 0o600);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
    }
    makeFolders(this.#disk, path.slice(0, path.lastIndexOf("/")));
    return this.#disk.open(path, OPEN_FLAGS.createNew, 0o600);
  }

  #discard(temporary: string): void {
    try {
      this.#disk.unlink(temporary);
    } catch {
      // The sweep finds it.
    }
  }
}

/** Makes a private folder and those above it. */
export function makeFolders(disk: Disk, path: string): void {
  try {
    disk.makeFolder(path, 0o700);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    if (codeOf(error) !== "ENOENT" || path.lastIndexOf("/") < 1) throw error;
    makeFolders(disk, path.slice(0, path.lastIndexOf("/")));
    makeFolders(disk, path);
  }
}

/** Puts a whole private file in the place of another: at every moment there is the old one or the new one. */
export async function replaceFile(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const file = disk.open(temporary, OPEN_FLAGS.createNew, 0o600);
    try {
      writeAll(disk, file, bytes);
      await disk.sync(file);
    } finally {
      disk.close(file);
    }
    disk.rename(temporary, path);
  } catch (error) {
    try {
      disk.unlink(temporary);
    } catch {
      // It may not be there; the sweep finds it otherwise.
    }
    throw error;
  }
}

const OTHERS = 0o077;

/**
 * Takes away what others may do in a folder of our own that somebody opened up, with all that is in it. A folder that
 * is closed to them is left as it is: nobody gets to what it holds.
 */
export function tighten(disk: Disk, folder: string): void {
  const stats = disk.stat(folder);
  if (stats === undefined || !stats.isDirectory() || (stats.mode & OTHERS) === 0) return;
  tightenFolder(disk, folder);
}

function tightenFolder(disk: Disk, folder: string): void {
  setMode(disk, folder, OPEN_FLAGS.folder, 0o700);
  for (const { name } of disk.list(folder)) {
    const path = `${folder}/${name}`;
    const stats = disk.stat(path);
    if (stats?.isDirectory() === true) tightenFolder(disk, path);
    else if (stats?.isFile() === true) setMode(disk, path, OPEN_FLAGS.read, 0o600);
  }
}

function setMode(disk: Disk, path: string, flags: number, mode: number): void {
  const file = disk.open(path, flags, 0);
  try {
    disk.setMode(file, mode);
  } finally {
    disk.close(file);
  }
}
