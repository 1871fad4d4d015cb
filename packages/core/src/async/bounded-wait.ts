import type { Clock } from "../ports/index.ts";

/** Waits for work to end, well or badly, but not longer than this. */
export async function waitAtMost(clock: Clock, milliseconds: number, work: Promise<unknown>): Promise<void> {
  let cancel = () => {};
  const limit = new Promise<void>((resolve) => {
    cancel = clock.after(milliseconds, resolve);
  });
  // What came of the work is for whoever started it.
  await Promise.race([work.catch(() => undefined), limit]);
  cancel();
}
