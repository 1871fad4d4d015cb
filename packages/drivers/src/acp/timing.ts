import type { Clock } from "@flint/core/ports";

/** Notices an agent that sends nothing for too long while it should. */
export class SilenceTimer {
  /** Resolves when the silence has lasted too long; never rejects. */
  readonly expired: Promise<void>;
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #isExcused: () => boolean;
  #expire: () => void = () => {};
  #lastActivity: number;
  #cancel: () => void;

  /** `isExcused` returns whether the agent waits for an answer or runs a tool. */
  constructor(clock: Clock, limitMs: number, isExcused: () => boolean) {
    this.#clock = clock;
    this.#lastActivity = clock.now();
    this.#limitMs = limitMs;
    this.#isExcused = isExcused;
    this.expired = new Promise((resolve) => {
      this.#expire = resolve;
    });
    this.#cancel = clock.after(limitMs, () => this.#check());
  }

  /** Restarts the timer. Cheap, because it is called with every delta. */
  reset(): void {
    this.#lastActivity = this.#clock.now();
  }

  /** Ends the timer without expiring. */
  stop(): void {
    this.#cancel();
  }

  #check(): void {
    if (this.#isExcused()) this.reset();
    const left = this.#limitMs - (this.#clock.now() - this.#lastActivity);
    if (left <= 0) this.#expire();
    else this.#cancel = this.#clock.after(left, () => this.#check());
  }
}

/** Whether a promise settles within a time, resolved or rejected. */
export async function settlesWithin(
  clock: Clock,
  milliseconds: number,
  work: Promise<unknown>,
): Promise<boolean> {
  let cancel = () => {};
  const late = new Promise<boolean>((resolve) => {
    cancel = clock.after(milliseconds, () => resolve(false));
  });
  const settled = work.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, late]).finally(() => cancel());
}
