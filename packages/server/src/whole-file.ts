import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Puts a text in the place of a file that only its user can read: at every moment, after a crash too, there is the old
 * file or the new one. Writers that come at the same time do not meet; the last one stays.
 */
export async function replaceWhole(path: string, text: string): Promise<void> {
  // Every start reads files that few ever change.
  const { randomBytes } = await import("node:crypto");
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${randomBytes(8).toString("hex")}.new`;
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
