import { setTimeout as delay } from "node:timers/promises";
import type { Lock } from "@flint/host/lock";
import { readRunningServer } from "@flint/sdk";
import type { FrontendName } from "../frontends.ts";
import { type BridgeEnd, bridgeSocket, type LocalEndpoint, stdioEnd } from "./bridge.ts";
import { claimServer } from "./claim.ts";
import { differenceTo } from "./difference.ts";
import { connectRunning } from "./running-server.ts";

/** A client that would join a running server. */
export interface JoinOptions {
  /** The state folder. */
  readonly folder: string;
  readonly protocol: FrontendName;
  /** The default folder of its threads. */
  readonly cwd: string;
}

/**
 * The outcome of joining: the side that closed the connection, or why it was not possible; no reason if no
 * server is running.
 */
export type Joined = { readonly end: BridgeEnd } | { readonly end: undefined; readonly reason?: string };

/** The time to wait for a server that has the lock but was only just started. */
export const JOIN_LIMITS = { totalMs: 5_000, pollMs: 20 };

/**
 * Bridges stdin and stdout to the server that has the lock of a state folder, as soon as it can be found there; or takes
 * the lock, if that server exits meanwhile. Gives a reason if neither happens in time.
 */
export async function joinOrClaim(
  options: JoinOptions,
  limits = JOIN_LIMITS,
): Promise<Joined | { readonly lock: Lock }> {
  const deadline = Date.now() + limits.totalMs;
  for (;;) {
    const joined = await joinRunning(options);
    if (joined.end !== undefined || joined.reason !== undefined) return joined;
    const attempt = await claimServer(options.folder);
    if ("lock" in attempt) return attempt;
    if (Date.now() > deadline) {
      const who = attempt.owner === undefined ? "it" : `process ${attempt.owner}`;
      return { end: undefined, reason: `${who} has the lock but does not accept connections` };
    }
    await delay(limits.pollMs);
  }
}

/**
 * Bridges stdin and stdout to the running server of a state folder, if that server has the same version and settings as
 * this one would have. Nothing is read from stdin otherwise.
 */
export async function joinRunning(
  { folder, protocol, cwd }: JoinOptions,
  nearEnd: () => LocalEndpoint = stdioEnd,
): Promise<Joined> {
  const running = readRunningServer(folder);
  if (running === undefined) return { end: undefined };
  const difference = differenceTo(running);
  if (difference !== undefined) return { end: undefined, reason: difference };
  const connected = await connectRunning(running, { protocol, cwd });
  // The file of a server that died is not worth a message.
  if (!connected.ok) return { end: undefined };
  return { end: await bridgeSocket(connected.socket, nearEnd()) };
}
