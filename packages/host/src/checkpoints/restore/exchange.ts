import { codeOf } from "@flint/core/ports";
import { type Disk, OPEN_FLAGS, writeAll } from "../disk/disk.ts";
import { type CaptureContext, capture } from "../scan/capture.ts";
import { type Entry, hashOf, type State, sameState } from "../scan/entry.ts";

/** The paths that an exchange uses, all in the same folder. */
export interface ExchangePaths {
  readonly path: string;
  /** The path at which the new file is written before it gets its name. */
  readonly temporary: string;
  /** The path at which the old entry waits until the new one is in place. */
  readonly aside: string;
}

/** The name of the file that is about to replace a restored one. */
export function temporaryName(recordId: string): string {
  return `.flint-${recordId}.tmp`;
}

/** The name of an entry while it is being replaced; it differs for each name in a folder. */
export function asideName(recordId: string, name: string): string {
  return `.flint-${recordId}-${hashOf(Buffer.from(name)).slice(0, 16)}.old`;
}

/** An entry to be replaced, and its replacement. */
export interface Exchange {
  readonly expected: State;
  readonly target: Exclude<State, { kind: "unsaved" }>;
  /** The content of the target, if it is a file. */
  readonly bytes: Uint8Array;
}

/**
 * Replaces the expected entry at a path by the target, or deletes it. Nothing that another program saves meanwhile is
 * overwritten: the old entry is moved aside and compared there, and the new one takes the name only while it is free.
 * False if something else was found, which is then at its path again.
 */
export async function exchange(
  context: CaptureContext,
  paths: ExchangePaths,
  work: Exchange,
): Promise<boolean> {
  const { disk } = context;
  const { expected, target, bytes } = work;
  unlinkIfExists(disk, paths.temporary);
  try {
    if (target?.kind === "file") await makeFile(disk, paths.temporary, bytes, target.mode);
    if (!moveAside(context, paths, expected)) return false;
    try {
      if (target !== undefined) place(disk, paths, target);
    } catch (error) {
      putBack(disk, paths, expected);
      if (codeOf(error) === "EEXIST") return false;
      throw error;
    }
    return dropAside(context, paths, work);
  } finally {
    unlinkIfExists(disk, paths.temporary);
  }
}

/** Ends an exchange that a crash interrupted: the old entry gets its name back if nothing took its place. */
export function recoverExchange(
  context: CaptureContext,
  paths: ExchangePaths,
  { expected, target }: Omit<Exchange, "bytes">,
): void {
  const { disk } = context;
  unlinkIfExists(disk, paths.temporary);
  if (disk.stat(paths.path) !== undefined) {
    if (sameState(capture(context, paths.aside, false), expected)) unlinkIfExists(disk, paths.aside);
  } else if (target !== undefined || expected?.kind !== "folder") putBack(disk, paths, expected);
}

/** Frees the path. False, and nothing is changed, if it had something else than expected. */
function moveAside(context: CaptureContext, paths: ExchangePaths, expected: State): boolean {
  const { disk } = context;
  if (expected === undefined) return disk.stat(paths.path) === undefined;
  try {
    // Fails if the folder is not empty, so nothing in it is lost.
    if (expected.kind === "folder") disk.removeFolder(paths.path);
    else disk.rename(paths.path, paths.aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return false;
    throw error;
  }
  if (expected.kind === "folder") return true;
  if (sameState(capture(context, paths.aside, false), expected)) return true;
  putBack(disk, paths, expected);
  return false;
}

/** Gives the new entry its name. Throws EEXIST if another program took it. */
function place(
  disk: Disk,
  { path, temporary }: ExchangePaths,
  target: Exclude<Entry, { kind: "unsaved" }>,
): void {
  switch (target.kind) {
    case "file":
      linkOrRename(disk, temporary, path);
      break;
    case "link":
      disk.makeLink(target.target, path);
      break;
    case "folder":
      disk.makeFolder(path, 0o700);
      break;
  }
}

/** Deletes the old entry, unless a program that had it open wrote to it until now: then it goes back to its path. */
function dropAside(context: CaptureContext, paths: ExchangePaths, { expected, target }: Exchange): boolean {
  const { disk } = context;
  if (expected === undefined || expected.kind === "folder") return true;
  if (sameState(capture(context, paths.aside, false), expected)) {
    disk.unlink(paths.aside);
    return true;
  }
  if (target?.kind === "folder") disk.removeFolder(paths.path);
  else if (target !== undefined) withdraw(context, paths, target);
  putBack(disk, paths, expected);
  return false;
}

/** Takes the new entry away again, unless another program has replaced it already. */
function withdraw(context: CaptureContext, { path, temporary }: ExchangePaths, target: Entry): void {
  const { disk } = context;
  unlinkIfExists(disk, temporary);
  try {
    disk.rename(path, temporary);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  if (!sameState(capture(context, temporary, false), target)) giveName(disk, temporary, path);
}

/** Undoes `moveAside`, unless another program saved something newer under the name. */
function putBack(disk: Disk, { path, aside }: ExchangePaths, expected: State): void {
  if (disk.stat(aside) !== undefined) giveName(disk, aside, path);
  else if (expected?.kind === "folder") makeFolderIfMissing(disk, path, expected.mode);
}

function makeFolderIfMissing(disk: Disk, path: string, mode: number): void {
  try {
    disk.makeFolder(path, mode);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** Gives an entry a name if it is free. Otherwise a newer save has it, and the entry is dropped like any replaced one. */
function giveName(disk: Disk, from: string, to: string): void {
  try {
    const stats = disk.stat(from);
    if (stats?.isFile() === true) linkOrRename(disk, from, to);
    else if (stats?.isSymbolicLink() === true) disk.makeLink(disk.readLink(from), to);
    else if (disk.stat(to) === undefined) disk.rename(from, to);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
  unlinkIfExists(disk, from);
}

/** Moves a file to a name that is free. Throws EEXIST if it is not. */
function linkOrRename(disk: Disk, from: string, to: string): void {
  try {
    disk.link(from, to);
    return;
  } catch (error) {
    if (!NO_HARD_LINKS.has(codeOf(error) ?? "")) throw error;
  }
  if (disk.stat(to) !== undefined) throw Object.assign(new Error(`${to} exists`), { code: "EEXIST" });
  disk.rename(from, to);
}

/** Error codes of file systems without hard links. */
const NO_HARD_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

async function makeFile(disk: Disk, path: string, bytes: Uint8Array, mode: number): Promise<void> {
  const file = disk.open(path, OPEN_FLAGS.createNew, 0o600);
  try {
    writeAll(disk, file, bytes);
    disk.setMode(file, mode);
    await disk.sync(file);
  } finally {
    disk.close(file);
  }
}

/** Deletes a file that may not exist. */
function unlinkIfExists(disk: Disk, path: string): void {
  try {
    disk.unlink(path);
  } catch {
    // Nearly always there is nothing.
  }
}
