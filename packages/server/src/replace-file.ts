import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { mintId } from "@flint/protocol";

/**
 * Puts a text in the place of a file that only its user can read: at every moment, after a crash too, there is the old
 * file or the new one. Writers that come at the same time do not meet; the last one stays.
 */
export async function replaceWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const next = nextTo(path);
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

/** The same at once, but for a crash of the machine: for what need not outlive it. */
export function replaceWholeSync(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = nextTo(path);
  try {
    writeFileSync(next, text, { mode: 0o600, flag: "wx" });
    renameSync(next, path);
  } catch (thrown) {
    rmSync(next, { force: true });
    throw thrown;
  }
}

function nextTo(path: string): string {
  return `${path}.${mintId()}.new`;
}
