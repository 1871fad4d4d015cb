import type { Clock } from "@flint/core/ports";

type Timer = { readonly dueAt: number; readonly action: () => void };

/** A clock that stands still until a test moves it, so that nothing in a test waits for real time. */
export class TestClock implements Clock {
  readonly #timers = new Set<Timer>();
  #now: number;
  /** Difference to the real system time. */
  #change = 0;

  /** Starts at a fixed moment by default, so that times in expected values are stable. */
  constructor(startAt: number = Date.UTC(2030, 0, 1)) {
    this.#now = startAt;
  }

  /** Number of waiting timers. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now + this.#change;
  }

  monotonic(): number {
    return this.#now;
  }

  /** Changes the system time, as a user or a time server does. No timer falls due by that. */
  changeSystemTime(byMilliseconds: number): void {
    this.#change += byMilliseconds;
  }

  after(milliseconds: number, action: () => void): () => void {
    const timer = { dueAt: this.#now + Math.max(0, milliseconds), action };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /**
   * Moves the time on and runs what falls due, each timer at its own moment and in order, also those that were set
   * on the way. What a timer sets off in microtasks has happened before the next one runs and before this resolves.
   */
  async advance(milliseconds: number): Promise<void> {
    const target = this.#now + milliseconds;
    await settled();
    for (let timer = this.#next(target); timer !== undefined; timer = this.#next(target)) {
      this.#timers.delete(timer);
      this.#now = Math.max(this.#now, timer.dueAt);
      timer.action();
      await settled();
    }
    this.#now = Math.max(this.#now, target);
  }

  /** The earliest timer that is due by then; of two that are due together, the one that was set first. */
  #next(target: number): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueAt <= target && (earliest === undefined || timer.dueAt < earliest.dueAt)) earliest = timer;
    }
    return earliest;
  }
}

/** Resolves when every microtask that is queued now, or queued by one of those, has run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
