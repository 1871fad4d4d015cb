import { resolve } from "node:path";
import type { DoorName } from "../doors.ts";
import { VERSION } from "../version.ts";
import { type BridgeEnd, bridgeSocket, standardEnds } from "./bridge.ts";
import { meet, type RunningServer, readRunning, settingsMark } from "./running-server.ts";

/** Who would join, and in place of what. */
export interface Joining {
  /** The state folder. */
  readonly folder: string;
  readonly door: DoorName;
  /** Where threads of this client begin; undefined if the client always says. */
  readonly cwd: string | undefined;
}

/** What became of an attempt to join: over, or why it was not possible; no reason if there is nobody to join. */
export type Joined = { readonly end: BridgeEnd } | { readonly end: undefined; readonly reason?: string };

/**
 * Connects stdin and stdout to the server that runs for a state folder, if it would serve this client as one of its own
 * would. Nothing is read from stdin unless it did.
 */
export async function joinRunning({ folder, door, cwd }: Joining): Promise<Joined> {
  const running = readRunning(folder);
  if (running === undefined) return { end: undefined };
  const difference = differenceTo(running, cwd);
  if (difference !== undefined) return { end: undefined, reason: difference };
  const meeting = await meet(running, door);
  // What a server that died left behind is no reason for words.
  if (!meeting.ok) return { end: undefined };
  return { end: await bridgeSocket(meeting.socket, standardEnds()) };
}

function differenceTo(
  { version, cwd, settings }: RunningServer,
  wanted: string | undefined,
): string | undefined {
  if (version !== VERSION) return `it is Flint ${version}`;
  if (settings !== settingsMark()) return "it was started with other settings in its environment";
  if (wanted !== undefined && resolve(wanted) !== cwd) return `it works in ${cwd}`;
  return undefined;
}
