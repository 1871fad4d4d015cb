/** The only source of time and timers in the core, so that tests can control it. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Milliseconds since some point in the past, unaffected by changes of the system time. */
  monotonic(): number;
  /** Runs `action` once after a delay; the returned function cancels it. */
  after(milliseconds: number, action: () => void): () => void;
}

/** The system clock. Its timers do not keep the process alive. */
export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(milliseconds, action) {
    const timer = setTimeout(action, milliseconds);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** The system clock with timers that keep the process alive, for work that must be finished. */
export const KEEP_ALIVE_CLOCK: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(milliseconds, action) {
    const timer = setTimeout(action, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Waits, but no longer than until the signal is aborted. */
export function pause(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(milliseconds, done);
    signal.addEventListener("abort", done, { once: true });
  });
}
