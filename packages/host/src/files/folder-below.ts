import { constants } from "node:fs";
import { type FileHandle, mkdir, open, unlink } from "node:fs/promises";
import { dirname, sep } from "node:path";
import { replacePrivateFile } from "./private-file.ts";

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** A file below a folder, which a program that is running may try to replace by a link at any moment. */
export interface FileBelow {
  readonly root: string;
  readonly path: string;
}

/** A plain file and what tells that it was changed since. */
export interface FoundFile {
  readonly content: Buffer;
  readonly identity: string;
}

/** Reads a plain file of at most `limit` bytes. Follows no link below the root; undefined for anything else. Never rejects. */
export async function readBelow({ root, path }: FileBelow, limit: number): Promise<FoundFile | undefined> {
  // Expected: it does not exist, or it is a link.
  return inFolder({ root, path }, false, async (at) => {
    const file = await open(at, FILE);
    try {
      const found = await file.stat({ bigint: true });
      if (!found.isFile() || found.size > BigInt(limit)) return undefined;
      const content = await file.readFile();
      const identity = [found.dev, found.ino, found.size, found.mtimeNs].join(":");
      return { content, identity };
    } finally {
      await file.close();
    }
  }).catch(() => undefined);
}

/** Replaces a file completely or not at all, and creates the folders to it. Follows no link below the root. */
export function replaceBelow(file: FileBelow, content: string | Uint8Array): Promise<void> {
  return inFolder(file, true, (at) => replacePrivateFile(at, content));
}

/** Removes a file if there is one. Follows no link below the root. Never rejects. */
export async function removeBelow(file: FileBelow): Promise<void> {
  // Expected: there is none, or something else took its place.
  await inFolder(file, false, unlink).catch(() => undefined);
}

/** Goes from folder to folder by open handles, so that one that is swapped for a link is not entered. */
async function inFolder<Result>(
  { root, path }: FileBelow,
  creates: boolean,
  use: (at: string) => Promise<Result>,
): Promise<Result> {
  const names = path.split(sep);
  const last = names.pop() ?? "";
  let folder: FileHandle = await open(root, FOLDER);
  try {
    for (const name of names) {
      const at = entryOf(folder, name);
      if (creates) await mkdir(at, { mode: 0o700 }).catch(() => undefined);
      const next = await open(at, FOLDER | constants.O_NOFOLLOW);
      await folder.close();
      folder = next;
    }
    return await use(entryOf(folder, last));
  } finally {
    await folder.close();
  }
}

function entryOf({ fd }: FileHandle, name: string): string {
  if (name === "" || name === "." || name === ".." || dirname(name) !== ".")
    throw new Error(`"${name}" is not the name of a file.`);
  return `/proc/self/fd/${fd}/${name}`;
}
