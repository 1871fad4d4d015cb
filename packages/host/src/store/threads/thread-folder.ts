import { join } from "node:path";
import { checkThreadId, codeOf, storageFailed, threadNotFound } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import {
  assertThreadFolder,
  type FileSystem,
  isTemporary,
  OPEN,
  type OpenFile,
  openKnown,
  openPrivate,
  restrictFolder,
} from "../file-system.ts";
import type { ThreadLock, ThreadLockAttempt } from "./thread-locks.ts";

/** The folder of one thread. Builds every path of the thread, from a validated id. */
export class ThreadFolder {
  readonly threadId: string;
  readonly path: string;
  readonly logPath: string;
  readonly #files: FileSystem;

  constructor(files: FileSystem, threads: string, threadId: string) {
    checkThreadId(threadId);
    this.#files = files;
    this.threadId = threadId;
    this.path = join(threads, threadId);
    this.logPath = join(this.path, "events.jsonl");
  }

  /** Throws `threadNotFound` unless there is a log. */
  expectLog(): void {
    assertThreadFolder(this.#files, this.path, this.threadId);
    if (this.#files.lstatSync(this.logPath) === undefined) throw threadNotFound(this.threadId);
  }

  /** Opens the log to read it; `threadNotFound` if there is none. */
  readLog(): OpenFile {
    return this.#opened(() => openKnown(this.#files, this.logPath, OPEN.read));
  }

  /** Opens the log to read it and to append to it; `threadNotFound` if there is none. */
  appendLog(): number {
    return this.#opened(() => openPrivate(this.#files, this.logPath, OPEN.appendLog));
  }

  #opened<File>(open: () => File): File {
    try {
      assertThreadFolder(this.#files, this.path, this.threadId);
      return open();
    } catch (error) {
      if (codeOf(error) === "ENOENT") throw threadNotFound(this.threadId);
      throw this.failure("could not be opened", error);
    }
  }

  /** The error of a failed operation on the log of this thread. */
  failure(what: string, error: unknown): FlintError {
    const { threadId } = this;
    return storageFailed(`The log of thread ${threadId} ${what}`, error, { threadId });
  }

  /** The lock of an attempt to acquire it; throws `threadLocked` with its owner if that failed. */
  expectLock(attempt: ThreadLockAttempt): ThreadLock {
    const { threadId } = this;
    if ("lock" in attempt) return attempt.lock;
    throw new FlintError("threadLocked", lockedMessage(threadId, attempt.owner), {
      threadId,
      pid: attempt.owner,
    });
  }

  /** Makes the folder private and deletes temporary files that a crash left. Only for the owner of the lock. */
  async tidy(): Promise<void> {
    await restrictFolder(this.#files, this.path);
    for (const name of this.#files.readdirSync(this.path)) {
      if (isTemporary(name)) await this.#files.unlink(join(this.path, name));
    }
  }
}

function lockedMessage(threadId: string, owner: number | undefined): string {
  if (owner === process.pid) return `Thread ${threadId} is already open in this process.`;
  const who = owner === undefined ? "a process that does not answer" : `process ${owner}`;
  return `Thread ${threadId} is in use by ${who}; stop it, or use the server that has it open.`;
}
