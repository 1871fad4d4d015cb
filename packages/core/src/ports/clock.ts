/** The only source of time and timers in the core, so that tests can control it. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Runs `action` once after a delay; the returned function cancels it. Must not keep the process alive. */
  after(milliseconds: number, action: () => void): () => void;
}

/** The system clock. */
export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  after(milliseconds, action) {
    const timer = setTimeout(action, milliseconds);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
