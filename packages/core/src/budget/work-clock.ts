import type { Clock } from "../ports/index.ts";

/** Measures how long a turn works; time spent waiting for the user does not count. */
export class WorkClock {
  readonly #clock: Clock;
  readonly #startedAt: number;
  #waitedMs = 0;
  #waits = 0;
  #waitingSince = 0;
  #alarm: { readonly afterMs: number; readonly action: () => void } | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  get waitedMs(): number {
    return this.#waitedMs + (this.#waits > 0 ? this.#clock.monotonic() - this.#waitingSince : 0);
  }

  get workedMs(): number {
    return this.#clock.monotonic() - this.#startedAt - this.waitedMs;
  }

  /** Runs something that waits for the user. */
  async waiting<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#waits === 0) this.#waitingSince = this.#clock.monotonic();
    this.#waits += 1;
    this.#schedule();
    try {
      return await work();
    } finally {
      if (this.#waits === 1) this.#waitedMs = this.waitedMs;
      this.#waits -= 1;
      this.#schedule();
    }
  }

  /** Calls `action` after this much work, in place of the alarm before. */
  alarm(workedMs: number | undefined, action: () => void): void {
    this.#alarm = workedMs === undefined ? undefined : { afterMs: workedMs, action };
    this.#schedule();
  }

  #schedule(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#alarm === undefined || this.#waits > 0) return;
    const { afterMs, action } = this.#alarm;
    this.#cancelTimer = this.#clock.after(Math.max(0, afterMs - this.workedMs), action);
  }
}
