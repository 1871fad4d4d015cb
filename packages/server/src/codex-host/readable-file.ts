import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { isAbsolute, sep } from "node:path";
import { FlintError, LIMITS } from "@flint/protocol";

/** What is read at once; as base64 it still fits one message. */
const MOST_BYTES = Math.floor(LIMITS.line / 2);

/**
 * The content of a plain file for a client that shows it. Not of a folder of Flint's own, where tokens and logs lie,
 * however the path comes there.
 */
export async function readableFile(path: string, own: readonly string[]): Promise<Uint8Array> {
  if (!isAbsolute(path) || path.includes("\0")) {
    throw new FlintError("invalidParams", "The path must be absolute.", { field: "path" });
  }
  const real = await realpath(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  const folders = await Promise.all(own.map((folder) => realpath(folder).catch(() => folder)));
  if (folders.some((folder) => real === folder || real.startsWith(folder + sep))) {
    throw new FlintError("invalidParams", `${path} belongs to Flint itself and is not shown.`);
  }
  const file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  try {
    const { size } = await plain(file, path);
    if (size > MOST_BYTES) {
      throw new FlintError(
        "invalidParams",
        `${path} has ${size} bytes; at most ${MOST_BYTES} are read at once.`,
      );
    }
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function plain(file: Awaited<ReturnType<typeof open>>, path: string): Promise<{ size: number }> {
  const stat = await file.stat();
  if (!stat.isFile()) throw new FlintError("invalidParams", `${path} is not a plain file.`);
  return stat;
}

function unreadable(path: string, error: unknown): FlintError {
  const why = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
  return new FlintError("invalidParams", `${path} cannot be read: ${why}.`);
}
