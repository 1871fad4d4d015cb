import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "@flint/core/ports";

/** V8 makes the young generation smaller only while little was allocated for five seconds. */
const QUIET_MS = 12_000;
/** A server that read little at its start has less than this. */
const GROWN_BYTES = 8 * 1024 * 1024;

/**
 * Collects garbage once, some seconds after the start, if reading what was stored has left much of it. A server that
 * only waits allocates nothing, so that without this it would keep that memory for as long as it waits.
 */
export function releaseMemoryOnce(clock: Pick<Clock, "after">, grownBytes = GROWN_BYTES): void {
  clock.after(QUIET_MS, () => {
    if (youngBytes() >= grownBytes) collect();
  });
}

/** What the space for new objects takes. */
function youngBytes(): number {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
  return space?.physical_space_size ?? 0;
}

/** Only a context that is made after the flag was set has the function. */
function collect(): void {
  setFlagsFromString("--expose-gc");
  const run: unknown = runInNewContext("gc");
  if (typeof run === "function") run();
}
