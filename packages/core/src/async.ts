import type { Clock } from "./ports/index.ts";

/** Runs one function at a time, in the order in which they were added. A failure is only reported to its caller. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;

  /** Reports whether a function is running or waiting. */
  get busy(): boolean {
    return this.#pending > 0;
  }

  run<Value>(task: () => Promise<Value>): Promise<Value> {
    this.#pending += 1;
    const result = this.#last.then(task).finally(() => {
      this.#pending -= 1;
    });
    // The next one runs even if this one fails.
    this.#last = result.catch(() => undefined);
    return result;
  }
}

/** Runs pieces of work, only so many at a time; the others wait for their turn in the order they came. */
export class ConcurrencyLimit {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

/** Opens once and stays open. */
export class Latch {
  /** Resolves with true once it is open. */
  readonly opened: Promise<true>;
  #isOpen = false;
  #resolve: (value: true) => void = () => {};

  constructor() {
    this.opened = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  open(): void {
    this.#isOpen = true;
    this.#resolve(true);
  }
}

/** Counts those who still need something: `released` does not resolve while there is one. */
export class KeepAlive {
  readonly #open = new Set<Promise<void>>();

  /** Adds one; the returned function removes it again. */
  acquire(): () => void {
    let resolve = () => {};
    const held = new Promise<void>((done) => {
      resolve = done;
    });
    this.#open.add(held);
    return () => {
      this.#open.delete(held);
      resolve();
    };
  }

  async released(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }
}

/** Waits until the work has settled, but no longer than this. Never rejects. */
export async function waitAtMost(clock: Clock, milliseconds: number, work: Promise<unknown>): Promise<void> {
  let cancel = () => {};
  const limit = new Promise<void>((resolve) => {
    cancel = clock.after(milliseconds, resolve);
  });
  // The result of the work is for the caller who started it.
  await Promise.race([work.catch(() => undefined), limit]);
  cancel();
}

/** Resolves once the signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
