import type { Clock } from "@flint/core/ports";

/** The clock of the machine for waits that somebody depends on: unlike the engine's it keeps the process alive. */
export const WAITING_CLOCK: Clock = {
  now: () => Date.now(),
  after(milliseconds, action) {
    const timer = setTimeout(action, milliseconds);
    return () => clearTimeout(timer);
  },
};
