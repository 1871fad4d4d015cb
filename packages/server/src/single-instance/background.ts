import { closeSync, constants, fchmodSync, fstatSync, ftruncateSync, openSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { readRunning, spawnDetached } from "@flint/sdk";
import { logFile } from "../config/environment.ts";
import { preparePrivate } from "./rendezvous.ts";
import { type Meeting, meet, type Wish } from "./running-server.ts";

/** What is started, and for whom. */
export interface Background {
  /** The state folder. */
  readonly folder: string;
  /** The command that starts Flint, such as `node flint.cjs`. */
  readonly flint: readonly string[];
  /** When it ends without clients, in seconds; 0: never. */
  readonly idleSeconds: number;
  readonly cwd: string;
}

/** How long a server may take until it can be met; and one that another program started, after ours gave way to it. */
const PATIENCE = { startMs: 20_000, otherMs: 5_000, roundMs: 20 };
const LONGEST_LOG = 1_048_576;
const LAST_LINES = 5;

/**
 * Starts a server in the background and meets it. Where several programs do so at once, the kernel lets one of the
 * servers be that of the folder, and all of them meet that one.
 */
export async function startAndMeet(background: Background, wish: Wish): Promise<Meeting> {
  const { folder } = background;
  preparePrivate(folder);
  const output = openLog(logFile(folder));
  let deadline = Date.now() + PATIENCE.startMs;
  const ended = spawned(background, output);
  closeSync(output);
  void ended.then(() => {
    deadline = Math.min(deadline, Date.now() + PATIENCE.otherMs);
  });
  do {
    const running = readRunning(folder);
    const meeting = running === undefined ? undefined : await meet(running, wish);
    if (meeting?.ok === true) return meeting;
    await delay(PATIENCE.roundMs);
  } while (Date.now() < deadline);
  return { ok: false, reason: `The server that was started cannot be met.${lastWords(logFile(folder))}` };
}

function spawned({ flint, idleSeconds, cwd }: Background, output: number): Promise<number> {
  const [command = "", ...rest] = flint;
  const args = [...rest, "serve", "--listen", "local", "--idle-exit", String(idleSeconds)];
  return spawnDetached({ command, args, cwd, output });
}

/** For the user alone, added to, and begun anew when it has become long. */
function openLog(path: string): number {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  fchmodSync(file, 0o600);
  if (fstatSync(file).size > LONGEST_LOG) ftruncateSync(file);
  return file;
}

function lastWords(path: string): string {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n").slice(-LAST_LINES);
  return lines.join("").trim() === "" ? ` It said nothing in ${path}.` : ` It said:\n${lines.join("\n")}`;
}
