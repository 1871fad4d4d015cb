import { setTimeout as delay } from "node:timers/promises";
import type { Lock } from "@flint/host/store";
import type { RunningServer } from "@flint/protocol";
import { readRunning } from "@flint/sdk";
import type { FrontendName } from "../frontends.ts";
import { VERSION } from "../version.ts";
import { type BridgeEnd, bridgeSocket, type Ends, standardEnds } from "./bridge.ts";
import { claimServer } from "./claim.ts";
import { meet, settingsMark } from "./running-server.ts";

/** Who would join, and in place of what. */
export interface Joining {
  /** The state folder. */
  readonly folder: string;
  readonly door: FrontendName;
  /** Where threads of this client begin that name no folder. */
  readonly cwd: string;
}

/** What became of an attempt to join: over, or why it was not possible; no reason if there is nobody to join. */
export type Joined = { readonly end: BridgeEnd } | { readonly end: undefined; readonly reason?: string };

/** How long a server that has the lock may take to be found; one that has just been started needs a moment. */
export const PATIENCE = { wholeMs: 5_000, roundMs: 20 };

/**
 * Connects stdin and stdout to the server that has the lock of a state folder, as soon as it can be found there; or
 * gets the lock, if that server ends meanwhile. With neither in time, says why.
 */
export async function joinOrClaim(
  joining: Joining,
  patience = PATIENCE,
): Promise<Joined | { readonly lock: Lock }> {
  const deadline = Date.now() + patience.wholeMs;
  for (;;) {
    const joined = await joinRunning(joining);
    if (joined.end !== undefined || joined.reason !== undefined) return joined;
    const attempt = await claimServer(joining.folder);
    if ("lock" in attempt) return attempt;
    if (Date.now() > deadline) {
      const who = attempt.owner === undefined ? "it" : `process ${attempt.owner}`;
      return { end: undefined, reason: `${who} has the lock, but cannot be met` };
    }
    await delay(patience.roundMs);
  }
}

/**
 * Connects stdin and stdout to the server that runs for a state folder, if it would serve this client as one of its own
 * would. Nothing is read from stdin unless it did.
 */
export async function joinRunning(
  { folder, door, cwd }: Joining,
  ends: () => Ends = standardEnds,
): Promise<Joined> {
  const running = readRunning(folder);
  if (running === undefined) return { end: undefined };
  const difference = differenceTo(running);
  if (difference !== undefined) return { end: undefined, reason: difference };
  const meeting = await meet(running, { door, cwd });
  // What a server that died left behind is no reason for words.
  if (!meeting.ok) return { end: undefined };
  return { end: await bridgeSocket(meeting.socket, ends()) };
}

function differenceTo({ version, settings }: RunningServer): string | undefined {
  if (version !== VERSION) return `it is Flint ${version}`;
  if (settings !== settingsMark()) return "it was started with other settings in its environment";
  return undefined;
}
