import { randomBytes } from "node:crypto";
import type { FileSystem } from "./file-system.ts";
import { OPEN, openPrivate, writeAll } from "./private-files.ts";

/** Whether only a crash leaves a file of this name behind. */
export function isTemporary(name: string): boolean {
  return name.endsWith(".tmp");
}

/** The path of a new file that is going to take the place of another. */
export function temporaryPath(target: string): string {
  return `${target}.${randomBytes(8).toString("hex")}.tmp`;
}

/** Puts a whole file in the place of another: at every moment there is the old one or the new one. */
export async function replaceFile(
  files: FileSystem,
  target: string,
  bytes: Uint8Array,
  durable: boolean,
): Promise<void> {
  const temporary = temporaryPath(target);
  try {
    const file = openPrivate(files, temporary, OPEN.createNew);
    try {
      await writeAll(files, file, bytes);
      if (durable) await files.fsync(file);
    } finally {
      files.closeSync(file);
    }
    await files.rename(temporary, target);
  } catch (error) {
    // What is left of the new file is of no use; the next opening looks for it again if this fails too.
    await files.unlink(temporary).catch(() => {});
    throw error;
  }
}
