import { lstatSync } from "node:fs";

/**
 * What distinguishes a folder from another one, or from a link, at the same path. It stays the same when the folder is
 * edited, and undefined means that there is none. Inode numbers are reused, so the time of creation is part of it, where
 * the file system has one. The number of the device is not: it may change with every mount.
 */
export function folderIdentity(path: string): string | undefined {
  try {
    const { ino, birthtimeNs } = lstatSync(path, { bigint: true });
    return `${ino}-${birthtimeNs}`;
  } catch {
    // No folder, or an inaccessible one.
    return undefined;
  }
}
