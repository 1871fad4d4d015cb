import { type Disk, OPEN_FLAGS } from "./disk.ts";

const OTHERS = 0o077;

/**
 * Takes away what others may do in a folder of our own that somebody opened up, with all that is in it. A folder that
 * is closed to them is left as it is: nobody gets to what it holds.
 */
export function tighten(disk: Disk, folder: string): void {
  const stats = disk.stat(folder);
  if (stats === undefined || !stats.isDirectory() || (stats.mode & OTHERS) === 0) return;
  tightenFolder(disk, folder);
}

function tightenFolder(disk: Disk, folder: string): void {
  setMode(disk, folder, OPEN_FLAGS.folder, 0o700);
  for (const { name } of disk.list(folder)) {
    const path = `${folder}/${name}`;
    const stats = disk.stat(path);
    if (stats?.isDirectory() === true) tightenFolder(disk, path);
    else if (stats?.isFile() === true) setMode(disk, path, OPEN_FLAGS.read, 0o600);
  }
}

function setMode(disk: Disk, path: string, flags: number, mode: number): void {
  const file = disk.open(path, flags, 0);
  try {
    disk.setMode(file, mode);
  } finally {
    disk.close(file);
  }
}
