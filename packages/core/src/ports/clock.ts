/** The only source of time and timers in the core, so that tests can move it. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Runs `action` once after a while; the returned function takes it back. Must not keep the process alive. */
  after(milliseconds: number, action: () => void): () => void;
}

/** The clock of the machine. */
export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  after(milliseconds, action) {
    const timer = setTimeout(action, milliseconds);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
