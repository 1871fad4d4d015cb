import { FlintError } from "@flint/protocol";
import { type Lock, lockFolder } from "../store/lock.ts";

/** In the folder that all worktrees of a repository share, so that every Flint on this machine finds it. */
const LOCK_FILE = "flint-worktrees.lock";
const WAIT_MS = 60_000;
const PAUSE_MS = 25;

/**
 * Lets one piece of work at a time change the worktrees of a repository, in this process and among others on this machine:
 * `git worktree add` breaks when it runs twice at once.
 */
export class RepositoryLock {
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #waitMs: number;

  constructor(waitMs = WAIT_MS) {
    this.#waitMs = waitMs;
  }

  /** Runs work when no other runs in this repository. Rejects if another process keeps it to itself for too long. */
  alone<Value>(commonDir: string, work: () => Promise<Value>): Promise<Value> {
    const before = this.#queues.get(commonDir) ?? Promise.resolve();
    const locked = async () => {
      const lock = await this.#acquire(commonDir);
      return work().finally(() => lock?.release());
    };
    const done = before.then(locked, locked);
    const settled = done.catch(() => undefined);
    this.#queues.set(commonDir, settled);
    return done;
  }

  /** The lock; undefined if none can be made, because the folder or the file in it belongs to another user. */
  async #acquire(commonDir: string): Promise<Lock | undefined> {
    const end = performance.now() + this.#waitMs;
    for (;;) {
      const attempt = await lockFolder(commonDir, LOCK_FILE).catch(() => undefined);
      if (attempt === undefined) return undefined;
      if ("lock" in attempt) return attempt.lock;
      if (performance.now() > end) {
        const owner = attempt.owner === undefined ? "Another process" : `Process ${attempt.owner}`;
        throw new FlintError(
          "overloaded",
          `${owner} does not finish its work on the worktrees of ${commonDir}.`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
