import { codeOf } from "@flint/core/ports";
import { type Disk, OPEN_FLAGS } from "../disk/disk.ts";
import { namesWithin } from "../disk/roots.ts";
import { type CaptureContext, capture, OpenFolder } from "../scan/capture.ts";
import { sameState } from "../scan/entry.ts";
import { asideName, type ExchangePaths, exchange, recoverExchange, temporaryName } from "./exchange.ts";
import type { Step } from "./plan.ts";

/** The result of a step. */
export type RestoreResult = "done" | "changedSince" | "blocked" | "notEmpty" | "notSaved" | "failed";

/**
 * Restores one path as part of the restore with this id. Files are exchanged without overwriting what another program
 * saves meanwhile. Follows no links, and leaves alone what has changed since it was planned.
 */
export async function restorePath(context: CaptureContext, step: Step, id: string): Promise<RestoreResult> {
  try {
    if (step.target !== undefined) createParents(context.disk, step);
    return await inFolder(context.disk, step, async (folder, name) => {
      if (!sameState(capture(context, folder.pathOf(name), false), step.current)) return "changedSince";
      return replaceEntry(context, exchangePaths(folder, name, id), step);
    });
  } catch (error) {
    // One file that cannot be written is reported, and does not stop the others.
    return codeOf(error) === "ENOTEMPTY" || codeOf(error) === "EEXIST" ? "notEmpty" : "failed";
  }
}

/** Ends the restore of a path that a crash interrupted. Rejects if the disk does not let it. */
export async function recoverPath(context: CaptureContext, step: Step, id: string): Promise<void> {
  const { current, target } = step;
  if (target?.kind === "unsaved") return;
  await inFolder(context.disk, step, async (folder, name) => {
    recoverExchange(context, exchangePaths(folder, name, id), { expected: current, target });
    return "done";
  });
}

function exchangePaths(folder: OpenFolder, name: string, id: string): ExchangePaths {
  return {
    path: folder.pathOf(name),
    temporary: folder.pathOf(temporaryName(id)),
    aside: folder.pathOf(asideName(id, name)),
  };
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
  paths: ExchangePaths,
  { current, target }: Step,
): Promise<RestoreResult> {
  if (target?.kind === "unsaved") return "notSaved";
  // Its mode is set when everything in it was restored.
  if (current?.kind === "folder" && target?.kind === "folder") return "done";
  const bytes = target?.kind === "file" ? context.blobs.get(target.hash, context.limit) : Buffer.alloc(0);
  if (bytes === undefined) return "notSaved";
  return (await exchange(context, paths, { expected: current, target, bytes })) ? "done" : "changedSince";
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
