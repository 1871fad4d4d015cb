import type { Engine } from "@flint/core";
import { type Dialect, Door } from "@flint/dialects";
import { stdioTransport } from "@flint/rpc";
import { redactErrors } from "./redact-errors.ts";

/** Running turns get this long to stop before the process ends without them. */
const STOP_LIMIT_MS = 4_500;
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/**
 * Serves one client over standard input and output until its input ends or a signal comes. Every request that was
 * read has its answer before this resolves, and running turns are stopped and recorded.
 */
export async function serveStdio(engine: Engine, dialect: Dialect): Promise<void> {
  // Before the transport sends there whatever others print.
  redactErrors((text) => engine.redact(text));
  const connection = new Door(dialect).connect(engine, stdioTransport());
  const signalled = new Promise<void>((resolve) => {
    for (const signal of SIGNALS) process.once(signal, () => resolve());
  });
  await Promise.race([connection.closed, signalled]);
  await within(STOP_LIMIT_MS, stop(engine, connection));
}

async function stop(
  engine: Engine,
  connection: { idle(): Promise<void>; close(): Promise<void> },
): Promise<void> {
  await connection.idle();
  await engine.close();
  await connection.close();
}

async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}
