import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { errorMessage } from "@flint/protocol";
import { UsageError } from "./command.ts";

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const WRITE =
  constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Paths that the system provides for programs to write to, such as /dev/stdout. */
const SYSTEM_FILES = /^\/(?:dev|proc)\//;

/**
 * Prepares writing an agent's text to a file that the user named. To be called before the agent runs, because the agent
 * may write beside the file: the folder stays the one that the path leads to now, and a link in place of the file is not
 * followed. The returned function throws with a sentence if the file cannot be written.
 */
export function outputFile(given: string, mode = 0o666): (text: string) => void {
  const path = resolve(given);
  if (SYSTEM_FILES.test(path)) return (text) => writeFileSync(path, text);
  const folder = realPath(dirname(path));
  return (text) => {
    const open = tried(given, () => openSync(folder, FOLDER));
    try {
      const opened = openedPath(open);
      if (opened !== undefined && opened !== folder)
        throw new Error(`${given} was not written: its folder was replaced by a link.`);
      // Through the open folder, which nothing can replace any more.
      const inFolder = opened === undefined ? folder : `/proc/self/fd/${open}`;
      const file = tried(given, () => openSync(join(inFolder, basename(path)), WRITE, mode));
      overwrite(file, text, given);
    } finally {
      closeSync(open);
    }
  };
}

function overwrite(file: number, text: string, given: string): void {
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${given} was not written: it is not a plain file.`);
    ftruncateSync(file);
    writeFileSync(file, text);
  } finally {
    closeSync(file);
  }
}

function tried(given: string, open: () => number): number {
  // Expected: a link, no such folder, no permission, a pipe that no program reads.
  try {
    return open();
  } catch (thrown) {
    const isLink = thrown instanceof Error && "code" in thrown && thrown.code === "ELOOP";
    const reason = isLink
      ? "it is a link, which an agent may have made. Delete it, or name another file"
      : errorMessage(thrown);
    throw new Error(`${given} was not written: ${reason}.`, { cause: thrown });
  }
}

/** The path with its links resolved as far as it exists. */
function realPath(path: string): string {
  // Expected: the folder does not exist yet.
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path));
  }
}

/** Returns the path of an open folder; undefined on a system that does not report it. */
function openedPath(folder: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${folder}`);
  } catch {
    return undefined;
  }
}

/** Writes the last message to a file. A file that cannot be written is an error before the turn, not after it. */
export function lastMessageWriter(file: string): (text: string) => void {
  const problem = problemWith(resolve(file));
  if (problem !== undefined)
    throw new UsageError(`--output-last-message: cannot write ${file}: ${problem}. Name another file.`);
  return outputFile(file);
}

function problemWith(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return "it is a folder";
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    return `the folder ${folder} does not exist`;
  try {
    accessSync(found === undefined ? folder : path, constants.W_OK);
    return undefined;
  } catch {
    return "permission denied";
  }
}
