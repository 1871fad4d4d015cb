import { join } from "node:path";
import { codeOf } from "@flint/core/ports";
import { closeQuietly, type FileSystem, OPEN, openPrivate } from "../file-system.ts";
import {
  acquireLock,
  LOCK_KIND,
  Lock,
  type LockKind,
  listen,
  newToken,
  queryOwner,
  TOKEN_LENGTH,
} from "../lock.ts";

const NAME = "lock";
const OWNER = /^\n([0-9a-f]{32}) (\d+) (\d+)\n$/;
const MAX_OWNER_LENGTH = 96;

/** The lock of one thread. */
export interface ThreadLock {
  release(): void;
}

/** The acquired lock, or the process id of its owner; undefined if that is not known. */
export type ThreadLockAttempt = { readonly lock: ThreadLock } | { readonly owner: number | undefined };

/** The owner of a lock: the token of its presence socket, its process, and the lock file it wrote that to. */
interface Owner {
  readonly token: string;
  readonly pid: number;
  readonly inode: number;
}

/**
 * The writer locks of the threads of one store. They cost one descriptor for all threads: a lock file names the presence
 * socket of its owner, and counts as long as something listens there. The kernel closes that socket however the process
 * ends. A socket of the lock file itself makes sure that two processes do not write to it at once.
 */
export class ThreadLocks {
  readonly #files: FileSystem;
  readonly #root: string;
  readonly #kind: LockKind;
  readonly #token = newToken();
  #presence: Promise<Lock> | undefined;

  constructor(files: FileSystem, root: string, kind: LockKind = LOCK_KIND) {
    this.#files = files;
    this.#root = root;
    this.#kind = kind;
  }

  /** Acquires the lock of a thread folder, or returns its owner. Never waits for the lock. */
  async acquire(folder: string): Promise<ThreadLockAttempt> {
    await this.#bePresent();
    const guard = await acquireLock(this.#files, folder, NAME, this.#kind);
    if (!("lock" in guard)) return { owner: this.#readOwner(folder)?.pid ?? guard.owner };
    try {
      const owner = this.#readOwner(folder);
      if (owner !== undefined && (await this.#isPresent(owner))) return { owner: owner.pid };
      return { lock: this.#own(folder) };
    } finally {
      await guard.lock.release();
    }
  }

  /** Acquires the lock of a folder that this process has just created, and that no other can have opened. */
  async acquireNew(folder: string): Promise<ThreadLockAttempt> {
    await this.#bePresent();
    let file: number;
    try {
      file = openPrivate(this.#files, join(folder, NAME), OPEN.createNew);
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
      return this.acquire(folder);
    }
    try {
      this.#write(file, newToken());
    } finally {
      closeQuietly(this.#files, file);
    }
    return { lock: { release: () => this.#release(folder) } };
  }

  /** Closes the presence socket, which frees all locks. */
  async close(): Promise<void> {
    const presence = this.#presence;
    this.#presence = undefined;
    await (await presence?.catch(() => undefined))?.release();
  }

  #bePresent(): Promise<Lock> {
    this.#presence ??= this.#listen().catch((error: unknown) => {
      this.#presence = undefined;
      throw error;
    });
    return this.#presence;
  }

  async #listen(): Promise<Lock> {
    const address = this.#address(this.#token);
    const server = await listen(address);
    if (server === undefined) throw new Error(`the address of this process is in use: ${address.slice(1)}`);
    const presence = new Lock(server);
    if (this.#kind === "path") await this.#files.chmod(address, 0o600);
    return presence;
  }

  #address(token: string): string {
    if (this.#kind === "abstract") return `\0flint-store-${token}`;
    // The path of a socket may have about a hundred characters only.
    return join(this.#root, `${token.slice(0, 12)}.socket`);
  }

  /** Reports whether the owner is alive, even if suspended. The socket file of a dead one is deleted. */
  async #isPresent(owner: Owner): Promise<boolean> {
    if (owner.token === this.#token) return true;
    const address = this.#address(owner.token);
    if ((await queryOwner(address)) !== "gone") return true;
    if (this.#kind === "path") await this.#files.unlink(address).catch(() => {});
    return false;
  }

  /** The owner that a lock file names; a copy of the file names none. */
  #readOwner(folder: string): Owner | undefined {
    const file = openPrivate(this.#files, join(folder, NAME), OPEN.read);
    try {
      const bytes = Buffer.alloc(MAX_OWNER_LENGTH);
      const count = this.#files.readSync(file, bytes, TOKEN_LENGTH);
      const [, token, pid, inode] = OWNER.exec(bytes.toString("latin1", 0, count)) ?? [];
      if (token === undefined || Number(inode) !== this.#files.fstatSync(file).ino) return undefined;
      return { token, pid: Number(pid), inode: Number(inode) };
    } finally {
      closeQuietly(this.#files, file);
    }
  }

  /** Writes this process to a lock file. Only for the owner of its guard. */
  #own(folder: string): ThreadLock {
    const file = openPrivate(this.#files, join(folder, NAME), OPEN.update);
    try {
      const token = Buffer.alloc(TOKEN_LENGTH, " ");
      this.#files.readSync(file, token, 0);
      this.#files.ftruncateSync(file, Math.min(TOKEN_LENGTH, this.#files.fstatSync(file).size));
      this.#write(file, token.toString("latin1"));
    } finally {
      closeQuietly(this.#files, file);
    }
    return { release: () => this.#release(folder) };
  }

  #write(file: number, token: string): void {
    const { ino } = this.#files.fstatSync(file);
    const bytes = Buffer.from(`${token}\n${this.#token} ${process.pid} ${ino}\n`, "latin1");
    if (this.#files.writeSync(file, bytes) !== bytes.length) throw new Error("the lock could not be written");
  }

  #release(folder: string): void {
    try {
      if (this.#readOwner(folder)?.token !== this.#token) return;
      const file = openPrivate(this.#files, join(folder, NAME), OPEN.update);
      try {
        this.#files.ftruncateSync(file, TOKEN_LENGTH);
      } finally {
        closeQuietly(this.#files, file);
      }
    } catch {
      // The folder is gone, or cannot be written; closing the presence socket frees the lock at the latest.
    }
  }
}
