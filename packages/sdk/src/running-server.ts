import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseRendezvousLine, RUN_FILES, RunningServer } from "@flint/protocol";

const OTHERS = 0o077;

/** What a state folder says about the server that runs for it; it may have died without a word. */
export function readRunning(home: string): RunningServer | undefined {
  const text = readOwn(join(home, RUN_FILES.server));
  return text === undefined ? undefined : parseRendezvousLine(RunningServer, text);
}

/** The token of the servers of a state folder, if they have one. */
export function readHomeToken(home: string): string | undefined {
  const token = readOwn(join(home, RUN_FILES.token))?.trim();
  return token === "" ? undefined : token;
}

/** A file that nobody else can have written: whoever could would send us anywhere. */
function readOwn(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    // There is none, or it is none of ours.
    return undefined;
  }
  try {
    const { mode, uid } = fstatSync(file);
    const isOwn = process.getuid === undefined || uid === process.getuid();
    return isOwn && (mode & OTHERS) === 0 ? readFileSync(file, "utf8") : undefined;
  } finally {
    closeSync(file);
  }
}
