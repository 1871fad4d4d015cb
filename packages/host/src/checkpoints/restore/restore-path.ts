import { codeOf } from "@flint/core/ports";
import { type Disk, OPEN_FLAGS, writeAll } from "../disk/disk.ts";
import { namesWithin } from "../disk/roots.ts";
import { type CaptureTools, capture, HeldFolder } from "../scan/capture.ts";
import { type Entry, type State, sameState } from "../scan/entry.ts";
import type { Step } from "./plan.ts";

/** The one name under which new content lies before it takes its place. */
export function temporaryName(recordId: string): string {
  return `.flint-${recordId}.tmp`;
}

/** What became of a step. */
export type PutBack = "done" | "changedSince" | "blocked" | "notEmpty" | "notSaved" | "failed";

/**
 * Puts one path back. A file is exchanged in one instant: whoever looks finds the old content or the new one, also
 * after the end of this process. Follows no link and leaves alone what is not as the plan found it.
 */
export async function putBack(tools: CaptureTools, step: Step, temporary: string): Promise<PutBack> {
  try {
    if (step.wanted !== undefined) makeMissing(tools.disk, step);
    return await inFolder(tools.disk, step, async (folder, name) => {
      const path = folder.pathOf(name);
      if (!sameState(capture(tools, path, false), step.present)) return "changedSince";
      return exchange(tools, path, step, folder.pathOf(temporary));
    });
  } catch (error) {
    // One file that cannot be written is told, and does not keep the others from being put back.
    return codeOf(error) === "ENOTEMPTY" || codeOf(error) === "EEXIST" ? "notEmpty" : "failed";
  }
}

/** Gives a folder that was made or kept its exact mode, when all that belongs into it is there. Never rejects. */
export async function finishFolder(disk: Disk, step: Step): Promise<void> {
  const { wanted } = step;
  if (wanted?.kind !== "folder") return;
  try {
    await inFolder(disk, step, async (folder, name) => {
      setFolderMode(disk, folder.pathOf(name), wanted.mode);
      return "done";
    });
  } catch {
    // Somebody took it away in the meantime; then its mode does not matter.
  }
}

async function inFolder(
  disk: Disk,
  { path, root }: Step,
  work: (folder: HeldFolder, name: string) => Promise<PutBack>,
): Promise<PutBack> {
  const names = namesWithin(path, root);
  const folder = HeldFolder.reach(disk, root, names.slice(0, -1));
  if (!(folder instanceof HeldFolder)) return "blocked";
  try {
    return await work(folder, names.at(-1) ?? "");
  } finally {
    folder.close();
  }
}

async function exchange(
  tools: CaptureTools,
  path: string,
  { present, wanted }: Step,
  temporary: string,
): Promise<PutBack> {
  const { disk, blobs, limit } = tools;
  const bytes = wanted?.kind === "file" ? blobs.get(wanted.hash, limit) : undefined;
  if (wanted?.kind === "file" && bytes === undefined) return "notSaved";
  if (wanted === undefined || isOtherKind(present, wanted)) clear(disk, path, present);
  switch (wanted?.kind) {
    case "file":
      await replace(disk, temporary, path, () =>
        makeFile(disk, temporary, bytes ?? Buffer.alloc(0), wanted.mode),
      );
      break;
    case "link":
      await replace(disk, temporary, path, async () => disk.makeLink(wanted.target, temporary));
      break;
    case "folder":
      if (present?.kind !== "folder") disk.makeFolder(path, 0o700);
      break;
    case "unsaved":
    case undefined:
      break;
  }
  return "done";
}

/** A folder cannot be exchanged for something else in one instant. */
function isOtherKind(present: State, wanted: Entry): boolean {
  return present !== undefined && (present.kind === "folder") !== (wanted.kind === "folder");
}

function clear(disk: Disk, path: string, present: State): void {
  if (present?.kind === "folder") disk.removeFolder(path);
  else if (present !== undefined) disk.unlink(path);
}

async function replace(
  disk: Disk,
  temporary: string,
  path: string,
  make: () => Promise<void>,
): Promise<void> {
  discard(disk, temporary);
  try {
    await make();
    disk.rename(temporary, path);
  } catch (error) {
    discard(disk, temporary);
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

/** Folders that nobody recorded, because they were gone with what was in them. */
function makeMissing(disk: Disk, { path, root }: Step): void {
  const names = namesWithin(path, root).slice(0, -1);
  for (let depth = 1; depth <= names.length; depth += 1) {
    const outer = HeldFolder.reach(disk, root, names.slice(0, depth - 1));
    if (!(outer instanceof HeldFolder)) return;
    try {
      const missing = outer.pathOf(names[depth - 1] ?? "");
      if (disk.stat(missing) === undefined) disk.makeFolder(missing, 0o777);
    } finally {
      outer.close();
    }
  }
}

/** Takes away what a crash may have left. */
export function discard(disk: Disk, path: string): void {
  try {
    disk.unlink(path);
  } catch {
    // There is nothing, as nearly always.
  }
}
