import { randomBytes } from "node:crypto";
import { codeOf } from "@flint/core/ports";
import { hashOf } from "../scan/entry.ts";
import { type Disk, OPEN_FLAGS, readFile, writeAll } from "./disk.ts";

/** Stores contents by their hash. Each is written atomically and never changed. */
export class Blobs {
  readonly folder: string;
  readonly #disk: Disk;

  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.folder = folder;
  }

  /** Stores content and returns its hash. If it is stored already, it is marked as in use. */
  put(bytes: Uint8Array): string {
    const hash = hashOf(bytes);
    if (!this.touch(hash)) this.#write(hash, bytes);
    return hash;
  }

  /** Marks content as in use, so that it is not swept before a record refers to it. False if it is not stored. */
  touch(hash: string): boolean {
    const path = this.pathOf(hash);
    // New content is the rule in a first scan, and an exception costs more than a stat.
    if (this.#disk.stat(path) === undefined) return false;
    try {
      this.#disk.touch(path);
      return true;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return false;
      throw error;
    }
  }

  /** Reads content; undefined if it is missing or damaged. */
  get(hash: string, limit: number): Buffer | undefined {
    try {
      const bytes = readFile(this.#disk, this.pathOf(hash), limit);
      return bytes !== undefined && hashOf(bytes) === hash ? bytes : undefined;
    } catch {
      // Whatever the reason, it cannot be restored.
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
      // The sweep deletes it.
    }
  }
}

/** Creates a private folder and its parents. */
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

/** Replaces a private file atomically: at every moment there is the old one or the new one. */
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
      // It may not exist; otherwise the sweep deletes it.
    }
    throw error;
  }
}

const OTHERS = 0o077;

/**
 * Makes one of Flint's own folders and its content private again, if other users were given access. Nothing to do while
 * the folder itself is private: others cannot reach its content.
 */
export function restrictAccess(disk: Disk, folder: string): void {
  const stats = disk.stat(folder);
  if (stats === undefined || !stats.isDirectory() || (stats.mode & OTHERS) === 0) return;
  restrictFolder(disk, folder);
}

function restrictFolder(disk: Disk, folder: string): void {
  setMode(disk, folder, OPEN_FLAGS.folder, 0o700);
  for (const { name } of disk.list(folder)) {
    const path = `${folder}/${name}`;
    const stats = disk.stat(path);
    if (stats?.isDirectory() === true) restrictFolder(disk, path);
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
