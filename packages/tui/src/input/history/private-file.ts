import { closeSync, constants, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { writePrivateFileSync } from "@flint/host/private-file";

/** Never writes through a link. */
const APPEND = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;

/**
 * Adds a line to a file that only its user can read, in one write, so that the lines of several terminals never mix.
 * False if it could not be written, such as on a full disk: a prompt must not fail because of that.
 */
export function appendLine(path: string, line: string): boolean {
  return attempt(() => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = openSync(path, APPEND, 0o600);
    try {
      writeSync(file, `${line}\n`);
    } finally {
      closeSync(file);
    }
  });
}

/** Replaces a file that only its user can read, completely or not at all. False if it could not be written. */
export function replaceFile(path: string, text: string): boolean {
  return attempt(() => writePrivateFileSync(path, text));
}

/** Removes a file, if it is there and may be removed. */
export function removeFile(path: string): void {
  attempt(() => rmSync(path, { force: true }));
}

function attempt(action: () => void): boolean {
  // Expected: a full disk, a read-only folder, or no folder at all.
  try {
    action();
    return true;
  } catch {
    return false;
  }
}
