import type { Clock } from "@flint/core/ports";

/** Whether the work settles within the time, one way or another. */
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
