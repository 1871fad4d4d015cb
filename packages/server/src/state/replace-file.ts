import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { mintId } from "@flint/protocol";

/**
 * Replaces a file atomically, readable by its user only: at every moment, even after a power failure, the file has its old
 * content or the new one. Of concurrent writers, the last one wins.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const next = temporaryPath(path);
  const file = await open(next, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
    await rename(next, path);
  } catch (thrown) {
    await rm(next, { force: true });
    throw thrown;
  } finally {
    await file.close();
  }
}

/** As `replaceFile`, synchronously and without syncing to disk: for files that need not survive a power failure. */
export function replaceFileSync(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = temporaryPath(path);
  try {
    writeFileSync(next, text, { mode: 0o600, flag: "wx" });
    renameSync(next, path);
  } catch (thrown) {
    rmSync(next, { force: true });
    throw thrown;
  }
}

function temporaryPath(path: string): string {
  return `${path}.${mintId()}.new`;
}
