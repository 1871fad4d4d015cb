import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import { FolderWalk } from "@flint/agent/folder-walk";
import { fuzzyMatch } from "./fuzzy.ts";

/** A file or folder that fits what was typed. */
export interface FoundFile {
  readonly root: string;
  /** From the root, with slashes. */
  readonly path: string;
  readonly isFolder: boolean;
  readonly name: string;
  readonly score: number;
  readonly indices: readonly number[];
}

const MOST_FOUND = 50;

/** Looks for files by a few letters of their paths; what .gitignore names is left out. Best first, bounded in time. */
export async function findFiles(
  query: string,
  roots: readonly string[],
  signal: AbortSignal,
): Promise<readonly FoundFile[]> {
  if (query.trim() === "") return [];
  const found = (await Promise.all(roots.map((root) => findIn(query, root, signal)))).flat();
  return found.sort(byScore).slice(0, MOST_FOUND);
}

async function findIn(query: string, root: string, signal: AbortSignal): Promise<FoundFile[]> {
  // A root that is not there holds nothing.
  const folder = await realpath(root).catch(() => undefined);
  if (folder === undefined) return [];
  const found: FoundFile[] = [];
  for await (const { path, kind } of new FolderWalk({ folder, workspace: folder, signal }).entries()) {
    const match = fuzzyMatch(query, path);
    if (match === undefined || (kind !== "file" && kind !== "folder")) continue;
    found.push({ root, path, isFolder: kind === "folder", name: basename(path), ...match });
  }
  return found;
}

function byScore(left: FoundFile, right: FoundFile): number {
  return (
    right.score - left.score || left.path.length - right.path.length || (left.path < right.path ? -1 : 1)
  );
}
