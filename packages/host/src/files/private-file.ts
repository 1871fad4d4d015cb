import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Replaces a file by one with this content that only the user can read: completely or not at all, even if the machine
 * stops. Never follows a link at the path, and never writes into what is there.
 */
export async function replacePrivateFile(path: string, content: string | Uint8Array): Promise<void> {
  const next = temporaryPath(path);
  // If anything fails, no partial file is left.
  try {
    const file = await open(next, "wx", 0o600);
    await file
      .writeFile(content)
      .then(() => file.sync())
      .finally(() => file.close());
    await rename(next, path);
  } catch (thrown) {
    await rm(next, { force: true });
    throw thrown;
  }
}

/** As `replacePrivateFile`, also where its folder does not exist yet. Of concurrent writers, the last one wins. */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await replacePrivateFile(path, content);
}

/** As `writePrivateFile`, synchronously and without syncing to disk: for files that need not survive a power failure. */
export function writePrivateFileSync(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = temporaryPath(path);
  // If anything fails, no partial file is left.
  try {
    writeFileSync(next, content, { mode: 0o600, flag: "wx" });
    renameSync(next, path);
  } catch (thrown) {
    rmSync(next, { force: true });
    throw thrown;
  }
}

function temporaryPath(path: string): string {
  return `${path}.flint-${crypto.randomUUID()}`;
}
