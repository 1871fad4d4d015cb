import { accessSync, constants, rmSync } from "node:fs";
import { mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder of a test's own, gone with everything in it when the test ends. */
export interface TemporaryFolder {
  /** Absolute, with every link resolved. */
  readonly path: string;
  /** A path inside of it. */
  join(...parts: readonly string[]): string;
  /** Removes it before the end of the test. May be called twice. */
  remove(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Makes an empty folder in the system's temporary folder. Outside of a test, call `remove` yourself. */
export function temporaryFolder(): Promise<TemporaryFolder> {
  return folderIn(tmpdir());
}

/**
 * Makes an empty folder for a real agent or a confined program: outside of the system's temporary folder, in which
 * Codex runs without its sandbox, and outside of what Flint's own sandbox covers. Otherwise as `temporaryFolder`.
 */
export function agentFolder(): Promise<TemporaryFolder> {
  return folderIn(agentPlace());
}

/** Removes everything in a folder, but not the folder itself, which may be mounted or watched. */
export async function emptyFolder(folder: string): Promise<void> {
  const names = await readdir(folder);
  await Promise.all(names.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}

/** Reports whether a sandbox covers a path, or agents treat it as temporary. */
export function isCovered(path: string): boolean {
  return ["/tmp", "/run", tmpdir()].some((folder) => path === folder || path.startsWith(`${folder}/`));
}

function agentPlace(): string {
  const folders = ["/var/tmp", homedir()].filter((place) => !isCovered(place) && isWritable(place));
  const [first] = folders;
  if (first === undefined)
    throw new Error(
      "Real agents need a folder outside of /tmp: neither /var/tmp nor the home can be written.",
    );
  return first;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false; // Not there, or not ours to write.
  }
}

async function folderIn(parent: string): Promise<TemporaryFolder> {
  const path = await realpath(await mkdtemp(join(parent, "flint-test-")));
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 5 });
  atTestEnd(remove, () => rmSync(path, { recursive: true, force: true }));
  return { path, join: (...parts) => join(path, ...parts), remove, [Symbol.asyncDispose]: remove };
}

const atExit = new Set<() => void>();

/**
 * Cleans up when the running test has ended, whatever came of it. Outside of a test, such as in `beforeAll`, only
 * `lastResort` is registered, for the exit of the process; the caller cleans up before.
 */
export function atTestEnd(cleanUp: () => Promise<void>, lastResort: () => void): void {
  try {
    onTestFinished(cleanUp);
  } catch {
    // Thrown by vitest when no test runs. There is no way to ask beforehand.
    runAtExit(lastResort);
  }
}

function runAtExit(action: () => void): void {
  if (atExit.size === 0) process.once("exit", runAll);
  atExit.add(action);
}

function runAll(): void {
  for (const action of atExit) action();
  atExit.clear();
}
