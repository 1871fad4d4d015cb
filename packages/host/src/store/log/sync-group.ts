/** Something that can be made to survive a power cut. */
export interface SyncTarget {
  /** `folder` makes the names in a folder durable, once a round however many targets ask for it. */
  sync(folder: (path: string) => Promise<void>): Promise<void>;
}

interface Waiter {
  readonly promise: Promise<void>;
  settle(outcome: Promise<void>): void;
}

const AT_ONCE = 3;

/**
 * Syncs many files with little work: while one round runs, whoever asks waits for the next round, in which each file
 * is synced once for everybody who asked. Only a few at a time, so that other work still gets threads to run on.
 */
export class SyncGroup {
  readonly #syncFolder: (path: string) => Promise<void>;
  #waiting = new Map<SyncTarget, Waiter>();
  #isRunning = false;

  constructor(syncFolder: (path: string) => Promise<void>) {
    this.#syncFolder = syncFolder;
  }

  /** Resolves when everything the target holds at this moment is safe; rejects if that cannot be said. */
  request(target: SyncTarget): Promise<void> {
    let waiter = this.#waiting.get(target);
    if (waiter === undefined) {
      waiter = newWaiter();
      this.#waiting.set(target, waiter);
    }
    if (!this.#isRunning) void this.#run();
    return waiter.promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // Lets everybody who asks in this tick take part in the first round.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const round = this.#waiting;
      this.#waiting = new Map();
      await this.#runRound(round);
    }
    this.#isRunning = false;
  }

  async #runRound(round: ReadonlyMap<SyncTarget, Waiter>): Promise<void> {
    const folders = new Map<string, Promise<void>>();
    const folder = (path: string): Promise<void> => {
      const synced = folders.get(path) ?? this.#syncFolder(path);
      folders.set(path, synced);
      return synced;
    };
    const queue = round.entries();
    const work = async (): Promise<void> => {
      for (const [target, waiter] of queue) {
        const outcome = target.sync(folder);
        waiter.settle(outcome);
        await outcome.catch(() => {});
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }
}

function newWaiter(): Waiter {
  let settle: Waiter["settle"] = () => {};
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}
