import { constants } from "node:fs";
import { open, readlink, realpath } from "node:fs/promises";
import { isAbsolute, sep } from "node:path";
import { FlintError, LIMITS } from "@flint/protocol";

/** What is read at once; as base64 it still fits one message. */
const MOST_BYTES = Math.floor(LIMITS.line / 2);

/** What lies there is made up by the kernel as it is read: the environment with its keys, memory, devices. */
const NO_DISKS = ["/proc", "/sys", "/dev"];

type File = Awaited<ReturnType<typeof open>>;

/**
 * The content of a plain file for a client that shows it. Not of a folder of Flint's own, where tokens and logs lie,
 * however the path comes there.
 */
export async function readableFile(path: string, own: readonly string[]): Promise<Uint8Array> {
  if (!isAbsolute(path) || path.includes("\0")) {
    const message = "Invalid request: AbsolutePathBuf deserialized without a base path";
    throw new FlintError("invalidRequest", message, { field: "path" });
  }
  const real = await realpath(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  // Before it is opened: to open a device may already do something.
  await expectShown(path, real, own);
  const file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  try {
    // And once more: a folder on the way may have become a link since.
    await expectShown(path, await placeOf(file, real), own);
    await expectPlain(file, path);
    return await bytesOf(file, path);
  } finally {
    await file.close();
  }
}

/** Where an open file lies now, however it was come to; where it was looked for, if the system does not say. */
function placeOf({ fd }: File, otherwise: string): Promise<string> {
  return readlink(`/proc/self/fd/${fd}`).catch(() => otherwise);
}

/** Throws for what is not to be read. `real` is free of links. */
async function expectShown(path: string, real: string, own: readonly string[]): Promise<void> {
  if (NO_DISKS.some((folder) => isInside(real, folder))) {
    throw new FlintError("invalidParams", `${path} is not a file on a disk and is not shown.`);
  }
  const folders = await Promise.all(own.map((folder) => realpath(folder).catch(() => folder)));
  if (folders.some((folder) => isInside(real, folder))) {
    throw new FlintError("invalidParams", `${path} belongs to Flint itself and is not shown.`);
  }
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder + sep);
}

async function expectPlain(file: File, path: string): Promise<void> {
  const stat = await file.stat();
  if (!stat.isFile()) throw new FlintError("invalidRequest", `path \`${path}\` is not a file`);
}

/** A file may grow while it is read, and some say nothing true about their size. */
async function bytesOf(file: File, path: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  // The end is the place of the last byte: one more than is given out.
  for await (const piece of file.createReadStream({ start: 0, end: MOST_BYTES, autoClose: false })) {
    pieces.push(piece);
  }
  const bytes = Buffer.concat(pieces);
  if (bytes.length <= MOST_BYTES) return bytes;
  const message = `${path} is too large; at most ${MOST_BYTES} bytes are read at once.`;
  throw new FlintError("invalidParams", message);
}

/** Why a file cannot be read, in the words of Codex, which are those of the system; the client knows which file. */
function unreadable(path: string, error: unknown): FlintError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
  return new FlintError("internalError", REASONS[code] ?? `${path} cannot be read: ${code}.`);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "No such file or directory (os error 2)",
  EACCES: "Permission denied (os error 13)",
  ENOTDIR: "Not a directory (os error 20)",
};
