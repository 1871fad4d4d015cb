import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";

/**
 * Replaces a file by one with this content that only the user can read: completely or not at all, even if the machine
 * stops. Never follows a link at the path, and never writes into what is there.
 */
export async function replacePrivateFile(path: string, content: string | Uint8Array): Promise<void> {
  const next = `${path}.flint-${randomUUID()}`;
  // If anything fails, nothing of it is left.
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
