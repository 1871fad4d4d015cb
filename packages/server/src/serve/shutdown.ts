import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Engine } from "@flint/core";
import type { Clock } from "@flint/core/ports";

/** The timeout of a shutdown. */
export const SHUTDOWN_LIMITS = {
  /** The process ends after this long, even if turns are still running. */
  totalMs: 4_500,
  /**
   * Share of it until which pending requests must be answered; one that waits for a turn is answered when
   * turns stop.
   */
  responsesMs: 2_000,
};
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Clients that a server has to finish with before it stops. */
export interface ServedClients {
  /** Stops accepting clients. */
  withdraw?(): Promise<void>;
  /** Resolves when every request so far has its response. */
  idle(): Promise<void>;
  /** Sends what is queued, then disconnects. */
  close(): Promise<void>;
}

/** Resolves with the first signal that asks this process to stop. */
export function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) process.once(signal, () => resolve());
  });
}

/** Stops a server within a limit: pending requests are answered, turns stopped and recorded, clients notified. */
export function stopServer(
  engine: Pick<Engine, "close">,
  clients: readonly ServedClients[],
  limits = SHUTDOWN_LIMITS,
): Promise<void> {
  return within(limits.totalMs, stopAll(engine, clients, limits.responsesMs));
}

async function stopAll(
  engine: Pick<Engine, "close">,
  clients: readonly ServedClients[],
  responsesMs: number,
): Promise<void> {
  await Promise.all(clients.map((served) => served.withdraw?.()));
  await within(responsesMs, allIdle(clients));
  await engine.close();
  await allIdle(clients);
  await Promise.all(clients.map((served) => served.close()));
}

async function allIdle(clients: readonly ServedClients[]): Promise<void> {
  await Promise.all(clients.map((served) => served.idle()));
}

async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}

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

/** Returns the size of the space for new objects. */
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
