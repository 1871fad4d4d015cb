import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import { FolderWalk } from "@flint/agent/folder-walk";
import type { HostFile } from "@flint/frontends/codex";

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

/** How well a path matches a query, and the indices of the matched letters. */
export type FuzzyMatch = Pick<HostFile, "score" | "indices">;

const POINTS = { match: 4, wordStart: 12, consecutive: 8, baseName: 6 };
const MAX_GAP_PENALTY = 20;

/**
 * Matches a query whose letters all occur in a path, in order and in any case; undefined if one does not. Letters at the
 * start of a word, consecutive ones, and those in the base name score higher.
 */
export function fuzzyMatch(query: string, path: string): FuzzyMatch | undefined {
  const letters = query.toLowerCase().replaceAll(" ", "");
  const lowerCase = path.toLowerCase();
  // Searched from the end, the base name is matched first, which is what users type.
  const indices: number[] = [];
  let from = lowerCase.length - 1;
  for (const letter of [...letters].reverse()) {
    const index = lowerCase.lastIndexOf(letter, from);
    if (index === -1 || from < 0) return undefined;
    indices.unshift(index);
    from = index - 1;
  }
  return { score: scoreOf(path, indices), indices };
}

function scoreOf(path: string, indices: readonly number[]): number {
  const baseName = path.lastIndexOf("/") + 1;
  let score = 0;
  let previous: number | undefined;
  for (const index of indices) {
    score += POINTS.match;
    if (isWordStart(path, index)) score += POINTS.wordStart;
    if (index >= baseName) score += POINTS.baseName;
    if (previous !== undefined) {
      const gap = index - previous;
      score += gap === 1 ? POINTS.consecutive : -Math.min(MAX_GAP_PENALTY, gap);
    }
    previous = index;
  }
  return Math.max(1, score);
}

function isWordStart(path: string, index: number): boolean {
  const before = path[index - 1];
  if (before === undefined || /[/_\-. ]/.test(before)) return true;
  return /[a-z0-9]/.test(before) && /[A-Z]/.test(path[index] ?? "");
}
