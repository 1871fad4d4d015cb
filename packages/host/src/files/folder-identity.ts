import { type BigIntStats, lstatSync } from "node:fs";

/**
 * Returns a string that distinguishes a folder from another one, or from a link, at the same path. It stays
 * the same when the folder is edited, and undefined means that there is none. Inode numbers are reused, so
 * the time of creation is part of it, where the file system has one. The number of the device is not: it may
 * change with every mount.
 */
export function folderIdentity(path: string): string | undefined {
  try {
    return identityOf(lstatSync(path, { bigint: true }));
  } catch {
    // No folder, or an inaccessible one.
    return undefined;
  }
}

/** The same of a folder that was looked at or opened. */
export function identityOf({ ino, birthtimeNs }: Pick<BigIntStats, "ino" | "birthtimeNs">): string {
  return `${ino}-${birthtimeNs}`;
}
