import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

/** Never writes through a link. */
const APPEND = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;

/**
 * Adds a line to a file that only its user can read, in one write, so that the lines of several terminals never mix.
 * False if it could not be written, such as on a full disk: a prompt must not fail because of that.
 */
export function appendLine(path: string, line: string): boolean {
  return attempt(() => {
    makeFolder(path);
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
  const next = `${path}.${randomUUID()}.new`;
  const isDone = attempt(() => {
    makeFolder(path);
    writeFileSync(next, text, { mode: 0o600, flag: "wx" });
    renameSync(next, path);
  });
  if (!isDone) removeFile(next);
  return isDone;
}

/** Removes a file, if it is there and may be removed. */
export function removeFile(path: string): void {
  attempt(() => rmSync(path, { force: true }));
}

function makeFolder(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
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
