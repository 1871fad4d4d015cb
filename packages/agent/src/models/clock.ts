import type { Clock } from "@flint/core/ports";

/** The clock of this machine. Unlike the engine's, its timers keep the process alive. */
export const KEEP_ALIVE_CLOCK: Clock = {
  now: () => Date.now(),
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
