import type { Clock } from "@flint/core/ports";

/** Calls back when there was no activity for too long. It can be restarted and paused. */
export class IdleTimeout {
  readonly #clock: Clock;
  readonly #milliseconds: number;
  readonly #expire: () => void;
  #cancel: () => void;
  #pauses = 0;
  #isOver = false;

  constructor(clock: Clock, milliseconds: number, expire: () => void) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
    this.#expire = expire;
    this.#cancel = clock.after(milliseconds, expire);
  }

  /** Starts the time again. */
  restart(): void {
    this.#cancel();
    if (this.#pauses > 0 || this.#isOver) return;
    this.#cancel = this.#clock.after(this.#milliseconds, this.#expire);
  }

  /** Pauses while the work runs, such as waiting for an answer of the user. */
  async pauseFor<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#pauses += 1;
    this.#cancel();
    try {
      return await work();
    } finally {
      this.#pauses -= 1;
      this.restart();
    }
  }

  /** Cancels it for good. */
  end(): void {
    this.#isOver = true;
    this.#cancel();
  }
}
