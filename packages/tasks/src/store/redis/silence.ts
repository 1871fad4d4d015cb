import type { Redis } from "ioredis";

/** Runs an action once after a delay; the returned function cancels it. */
export type After = (milliseconds: number, action: () => void) => () => void;

/** Waits by the timers of the system. */
export const afterTimeout: After = (milliseconds, action) => {
  const timer = setTimeout(action, milliseconds);
  return () => clearTimeout(timer);
};

/** Time without an answer after which Redis counts as away. */
const SILENCE_MS = 5000;
/** Time for closing what has lost its connections. */
const REST_MS = 2000;
/** Time between two questions. */
const ASK_MS = 500;

/**
 * Resolves with true once the work is done or has failed, which may take any time while Redis answers; with false as soon
 * as Redis has been silent for some seconds.
 */
export async function doneWhileAnswering(
  redis: Pick<Redis, "ping">,
  work: Promise<unknown>,
  after: After,
): Promise<boolean> {
  const done = work.then(
    () => true,
    // Expected: the connection was closed, or Redis refuses; there is nothing more to wait for.
    () => true,
  );
  for (;;) {
    // Expected: a connection that is closed.
    const answer = redis.ping().catch(() => undefined);
    const answered = await first<unknown>(
      after,
      SILENCE_MS,
      done,
      answer.then(() => "answered"),
    );
    if (answered === undefined) return false;
    if (answered === true || (await first(after, ASK_MS, done)) === true) return true;
  }
}

/** A connection to Redis that can be given up, which ends what waits for an answer. */
interface Abandonable {
  disconnect(): void;
}

/** The connections of a fleet: those of the store, one of which is asked whether Redis is there, and those of the queue. */
interface FleetConnections {
  readonly store: Abandonable & { readonly connection: Redis };
  readonly queue: Abandonable;
}

/** Closes what uses Redis; if that does not answer, its connections are ended first, and with them every wait. */
export async function closeWhileAnswering(
  { store, queue }: FleetConnections,
  close: () => Promise<void>,
  after: After = afterTimeout,
): Promise<void> {
  const closed = close();
  if (await doneWhileAnswering(store.connection, closed, after)) return closed;
  queue.disconnect();
  store.disconnect();
  // Expected: steps that fail because the connections are gone, or that wait for one of BullMQ's own.
  const settled = closed.catch(() => undefined);
  await first(after, REST_MS, settled);
}

/** The first that resolves, or undefined if none does in time. */
async function first<Value>(
  after: After,
  milliseconds: number,
  ...promises: readonly Promise<Value>[]
): Promise<Value | undefined> {
  let cancel = () => {};
  const late = new Promise<undefined>((resolve) => {
    cancel = after(milliseconds, () => resolve(undefined));
  });
  return Promise.race([...promises, late]).finally(cancel);
}
