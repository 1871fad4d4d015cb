import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseRendezvousLine, RUN_FILES, RunningServer } from "@flint/protocol";

const OTHERS = 0o077;

/** What a state folder records about its running server, which may have crashed since. */
export function readRunningServer(home: string): RunningServer | undefined {
  const text = readOwn(join(home, RUN_FILES.server));
  return text === undefined ? undefined : parseRendezvousLine(RunningServer, text);
}

/** The token of a state folder's server, if there is one. */
export function readHomeToken(home: string): string | undefined {
  const token = readOwn(join(home, RUN_FILES.token))?.trim();
  return token === "" ? undefined : token;
}

/** Reads a file that only this user can have written. */
function readOwn(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    // Missing, or a link.
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
