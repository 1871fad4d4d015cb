import type { Clock } from "@flint/core/ports";

/** Lets something happen when nothing was heard for too long. A sign of life starts it anew; it can be held. */
export class IdleTimeout {
  readonly #clock: Clock;
  readonly #milliseconds: number;
  readonly #expire: () => void;
  #cancel: () => void;
  #holds = 0;
  #isOver = false;

  constructor(clock: Clock, milliseconds: number, expire: () => void) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
    this.#expire = expire;
    this.#cancel = clock.after(milliseconds, expire);
  }

  /** Starts the time anew. */
  restart(): void {
    this.#cancel();
    if (this.#holds > 0 || this.#isOver) return;
    this.#cancel = this.#clock.after(this.#milliseconds, this.#expire);
  }

  /** Stands still as long as the work takes, such as an answer of the user. */
  async pauseFor<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#holds += 1;
    this.#cancel();
    try {
      return await work();
    } finally {
      this.#holds -= 1;
      this.restart();
    }
  }

  /** It will not expire any more. */
  end(): void {
    this.#isOver = true;
    this.#cancel();
  }
}
