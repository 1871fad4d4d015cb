import { codeOf } from "@flint/core/ports";
import { type Disk, OPEN_FLAGS, writeAll } from "../disk/disk.ts";
import { namesWithin } from "../disk/roots.ts";
import { type CaptureContext, capture, OpenFolder } from "../scan/capture.ts";
import { type Entry, type State, sameState } from "../scan/entry.ts";
import type { Step } from "./plan.ts";

/** The name of the temporary file that replaces a restored file. */
export function temporaryName(recordId: string): string {
  return `.flint-${recordId}.tmp`;
}

/** The result of a step. */
export type RestoreResult = "done" | "changedSince" | "blocked" | "notEmpty" | "notSaved" | "failed";

/**
 * Restores one path. Files are replaced atomically: at every moment, also after a crash, the old or the new content is
 * there. Follows no links, and leaves alone what has changed since it was planned.
 */
export async function restorePath(
  context: CaptureContext,
  step: Step,
  temporary: string,
): Promise<RestoreResult> {
  try {
    if (step.target !== undefined) createParents(context.disk, step);
    return await inFolder(context.disk, step, async (folder, name) => {
      const path = folder.pathOf(name);
      if (!sameState(capture(context, path, false), step.current)) return "changedSince";
      return replaceEntry(context, path, step, folder.pathOf(temporary));
    });
  } catch (error) {
    // One file that cannot be written is reported, and does not stop the others.
    return codeOf(error) === "ENOTEMPTY" || codeOf(error) === "EEXIST" ? "notEmpty" : "failed";
  }
}

/** Sets the mode of a restored folder, after everything in it was restored. Never rejects. */
export async function restoreFolderMode(disk: Disk, step: Step): Promise<void> {
  const { target } = step;
  if (target?.kind !== "folder") return;
  try {
    await inFolder(disk, step, async (folder, name) => {
      setFolderMode(disk, folder.pathOf(name), target.mode);
      return "done";
    });
  } catch {
    // It was deleted meanwhile, so its mode does not matter.
  }
}

async function inFolder(
  disk: Disk,
  { path, root }: Step,
  work: (folder: OpenFolder, name: string) => Promise<RestoreResult>,
): Promise<RestoreResult> {
  const names = namesWithin(path, root);
  const folder = OpenFolder.descend(disk, root, names.slice(0, -1));
  if (!(folder instanceof OpenFolder)) return "blocked";
  try {
    return await work(folder, names.at(-1) ?? "");
  } finally {
    folder.close();
  }
}

async function replaceEntry(
  context: CaptureContext,
  path: string,
  { current, target }: Step,
  temporary: string,
): Promise<RestoreResult> {
  const { disk, blobs, limit } = context;
  const bytes = target?.kind === "file" ? blobs.get(target.hash, limit) : undefined;
  if (target?.kind === "file" && bytes === undefined) return "notSaved";
  if (target === undefined || isOtherKind(current, target)) removeEntry(disk, path, current);
  switch (target?.kind) {
    case "file":
      await replace(disk, temporary, path, () =>
        makeFile(disk, temporary, bytes ?? Buffer.alloc(0), target.mode),
      );
      break;
    case "link":
      await replace(disk, temporary, path, async () => disk.makeLink(target.target, temporary));
      break;
    case "folder":
      if (current?.kind !== "folder") disk.makeFolder(path, 0o700);
      break;
    case "unsaved":
    case undefined:
      break;
  }
  return "done";
}

/** A folder cannot be replaced by something else atomically. */
function isOtherKind(current: State, target: Entry): boolean {
  return current !== undefined && (current.kind === "folder") !== (target.kind === "folder");
}

function removeEntry(disk: Disk, path: string, current: State): void {
  if (current?.kind === "folder") disk.removeFolder(path);
  else if (current !== undefined) disk.unlink(path);
}

async function replace(
  disk: Disk,
  temporary: string,
  path: string,
  make: () => Promise<void>,
): Promise<void> {
  unlinkIfExists(disk, temporary);
  try {
    await make();
    disk.rename(temporary, path);
  } catch (error) {
    unlinkIfExists(disk, temporary);
    throw error;
  }
}

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

function setFolderMode(disk: Disk, path: string, mode: number): void {
  const folder = disk.open(path, OPEN_FLAGS.folder, 0);
  try {
    disk.setMode(folder, mode);
  } finally {
    disk.close(folder);
  }
}

/** Creates parent folders that have no record because they were deleted with their content. */
function createParents(disk: Disk, { path, root }: Step): void {
  const names = namesWithin(path, root).slice(0, -1);
  for (let depth = 1; depth <= names.length; depth += 1) {
    const outer = OpenFolder.descend(disk, root, names.slice(0, depth - 1));
    if (!(outer instanceof OpenFolder)) return;
    try {
      const missing = outer.pathOf(names[depth - 1] ?? "");
      if (disk.stat(missing) === undefined) disk.makeFolder(missing, 0o777);
    } finally {
      outer.close();
    }
  }
}

/** Deletes what a crash may have left. */
export function unlinkIfExists(disk: Disk, path: string): void {
  try {
    disk.unlink(path);
  } catch {
    // Nearly always there is nothing.
  }
}
