import { constants } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";

/** A file that is there and cannot be shown: too large, no text, or no plain file. */
export const UNREADABLE = Symbol("unreadable");

/** The content of a file; undefined if there is none. */
export type Content = string | undefined | typeof UNREADABLE;

/** The text of a plain file of at most so many bytes. Never rejects, and never waits for a pipe or a device. */
export async function plainText(path: string, limit: number): Promise<Content> {
  if (await isMissing(path)) return undefined;
  const bytes = await plainBytes(path, limit);
  if (bytes === undefined) return UNREADABLE;
  // Expected: bytes that are no text.
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return UNREADABLE;
  }
}

/** The bytes of a plain file; undefined if it is none, or a larger one. Never rejects. */
export async function plainBytes(path: string, limit: number): Promise<Buffer | undefined> {
  // Expected: nothing is there, or something that may not be opened.
  try {
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
    const file = await open(await realpath(path), flags);
    try {
      const found = await file.stat();
      return found.isFile() && found.size <= limit ? await file.readFile() : undefined;
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

function isMissing(path: string): Promise<boolean> {
  return lstat(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === "ENOENT",
  );
}
