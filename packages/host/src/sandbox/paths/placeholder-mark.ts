import type { Stats } from "node:fs";

/** An empty folder with these rights was made by a sandbox: nobody else makes private folders with a sticky bit. */
export const PLACEHOLDER_MODE = 0o1700;

/** Whether a sandbox made it to keep a protected name in its place. One that hands its group on has one bit more. */
export function isPlaceholder(found: Stats): boolean {
  return found.isDirectory() && (found.mode & 0o5777) === PLACEHOLDER_MODE;
}
