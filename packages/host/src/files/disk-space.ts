import { lstat, opendir, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Returns the disk space of a file or a folder, without the targets of links in it; 0 if it does not exist.
 */
export async function sizeOf(path: string): Promise<number> {
  // Expected: it does not exist, or is being removed.
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return 0;
  let bytes = found.blocks * BLOCK;
  if (!found.isDirectory()) return bytes;
  const folder = await opendir(path).catch(() => undefined);
  if (folder === undefined) return bytes;
  for await (const entry of folder) bytes += await sizeOf(join(path, entry.name));
  return bytes;
}

/** Returns the space that the user may still write where a folder is or will be. */
export async function freeSpace(folder: string): Promise<number> {
  // Expected: it is not made yet.
  const found = await statfs(folder).catch(() => undefined);
  if (found !== undefined) return found.bavail * found.bsize;
  const parent = dirname(folder);
  return parent === folder ? Number.POSITIVE_INFINITY : freeSpace(parent);
}

/** The unit in which file systems count what a file takes. */
const BLOCK = 512;
