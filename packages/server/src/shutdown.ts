import type { Engine } from "@flint/core";

/** How long an end may take. */
export const END_LIMITS = {
  /** Running turns have stopped by then, or the process ends without them. */
  wholeMs: 4_500,
  /** What requests that were read may take of it; one that waits for the end of a turn is answered when turns are stopped. */
  answersMs: 2_000,
};
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Clients that are served, however they came. */
export interface Clients {
  /** Takes no newcomers any more. */
  withdraw?(): Promise<void>;
  /** Resolves when every request so far has its answer. */
  idle(): Promise<void>;
  /** Sends what is queued, then lets them go. */
  close(): Promise<void>;
}

/** Resolves with the first signal that asks this process to end. */
export function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) process.once(signal, () => resolve());
  });
}

/** Ends a server: what was asked is answered, turns are stopped and recorded, clients hear of it; within a limit. */
export function endServer(
  engine: Pick<Engine, "close">,
  clients: readonly Clients[],
  limits = END_LIMITS,
): Promise<void> {
  return within(limits.wholeMs, endAll(engine, clients, limits.answersMs));
}

async function endAll(
  engine: Pick<Engine, "close">,
  clients: readonly Clients[],
  answersMs: number,
): Promise<void> {
  await Promise.all(clients.map((served) => served.withdraw?.()));
  await within(answersMs, allIdle(clients));
  await engine.close();
  await allIdle(clients);
  await Promise.all(clients.map((served) => served.close()));
}

async function allIdle(clients: readonly Clients[]): Promise<void> {
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
