import { realpathSync, type Stats } from "node:fs";
import { lstat, realpath, stat } from "node:fs/promises";

/** Reports whether there is anything at a path, also a link that leads nowhere. */
export function exists(path: string): Promise<boolean> {
  return is(lstat(path), () => true);
}

/** Reports whether a path leads to anything, which a link to a missing file does not. */
export function targetExists(path: string): Promise<boolean> {
  return is(stat(path), () => true);
}

/** Reports whether a path is a folder itself, and not a link to one. */
export function isFolder(path: string): Promise<boolean> {
  return is(lstat(path), (found) => found.isDirectory());
}

/** Reports whether a path is a socket itself, and not a link to one. */
export function isSocket(path: string): Promise<boolean> {
  return is(lstat(path), (found) => found.isSocket());
}

/** The path free of links; undefined if nothing is there. */
export function realPathIfAny(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}

/** The path free of links; itself if nothing is there. */
export function realPathOrSame(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** As `realPathOrSame`, synchronously. */
export function realPathOrSameSync(path: string): string {
  // Expected: it does not exist or may not be read.
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function is(finding: Promise<Stats>, judge: (found: Stats) => boolean): Promise<boolean> {
  return finding.then(judge, () => false);
}
