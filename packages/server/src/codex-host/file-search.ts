import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import type { HostFile } from "@flint/frontends/codex";
import { FolderWalk, fuzzyMatch } from "@flint/host/globs";

const MAX_RESULTS = 50;

/** Finds files and folders by some letters of their paths, best match first, without those that git ignores. */
export async function findFiles(
  query: string,
  roots: readonly string[],
  signal: AbortSignal,
): Promise<readonly HostFile[]> {
  if (query.trim() === "") return [];
  const found = (await Promise.all(roots.map((root) => findIn(query, root, signal)))).flat();
  return found.sort(byScore).slice(0, MAX_RESULTS);
}

async function findIn(query: string, root: string, signal: AbortSignal): Promise<HostFile[]> {
  // A missing root contains nothing.
  const folder = await realpath(root).catch(() => undefined);
  if (folder === undefined) return [];
  const found: HostFile[] = [];
  for await (const { path, kind } of new FolderWalk({ folder, workspace: folder, signal }).entries()) {
    const match = fuzzyMatch(query, path);
    if (match === undefined || (kind !== "file" && kind !== "folder")) continue;
    found.push({ root, path, isFolder: kind === "folder", name: basename(path), ...match });
  }
  return found;
}

function byScore(left: HostFile, right: HostFile): number {
  return (
    right.score - left.score || left.path.length - right.path.length || (left.path < right.path ? -1 : 1)
  );
}
