import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** Maximum number of Git LFS objects that are copied at once, and the maximum size of one. */
const MAX_OBJECTS = 1_000;
const MAX_BYTES = 4 * 1024 ** 3;

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const BUFFER_BYTES = 1024 * 1024;

/**
 * Copies the objects of Git LFS that an agent added into the user's repository. Each is named by the hash of its content:
 * a file whose content has another hash, a link or a pipe is left out. Returns how many were left out.
 */
export async function copyLfsObjects(privateGitDir: string, commonDir: string): Promise<number> {
  const source = join(privateGitDir, "lfs", "objects");
  const target = join(commonDir, "lfs", "objects");
  let skipped = 0;
  let copied = 0;
  for (const id of await objectIds(source)) {
    const place = join(id.slice(0, 2), id.slice(2, 4), id);
    if ((await lstat(join(target, place)).catch(() => undefined)) !== undefined) continue;
    const isCopied =
      copied < MAX_OBJECTS && (await copyVerified(join(source, place), join(target, place), id));
    if (isCopied) copied += 1;
    else skipped += 1;
  }
  return skipped;
}

/** The ids of the objects in a folder. Links to folders are not followed. */
async function objectIds(folder: string): Promise<string[]> {
  const ids: string[] = [];
  for (const first of await foldersIn(folder)) {
    for (const second of await foldersIn(join(folder, first))) {
      const names = await readdir(join(folder, first, second)).catch((): string[] => []);
      ids.push(...names.filter((name) => /^[0-9a-f]{64}$/.test(name) && name.startsWith(first + second)));
    }
  }
  return ids;
}

async function foldersIn(folder: string): Promise<string[]> {
  const isFolder = (await lstat(folder).catch(() => undefined))?.isDirectory() === true;
  const entries = isFolder ? await readdir(folder, { withFileTypes: true }).catch(() => []) : [];
  return entries
    .filter((entry) => entry.isDirectory() && /^[0-9a-f]{2}$/.test(entry.name))
    .map(({ name }) => name);
}

async function copyVerified(from: string, to: string, id: string): Promise<boolean> {
  const source = await open(from, READ).catch(() => undefined);
  if (source === undefined) return false;
  const temporary = `${to}.${randomUUID()}`;
  // Whatever happens, no half of an object stays.
  try {
    const found = await source.stat();
    if (!found.isFile() || found.size > MAX_BYTES) return false;
    await mkdir(join(to, ".."), { recursive: true });
    const target = await open(temporary, "wx", 0o444);
    const hash = await copyHashing(source, target).finally(() => target.close());
    if (hash !== id) return false;
    await rename(temporary, to);
    return true;
  } finally {
    await source.close();
    await rm(temporary, { force: true });
  }
}

async function copyHashing(source: FileHandle, target: FileHandle): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.alloc(BUFFER_BYTES);
  for (let size = 0; size <= MAX_BYTES; ) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return hash.digest("hex");
    const piece = buffer.subarray(0, bytesRead);
    hash.update(piece);
    await target.write(piece);
    size += bytesRead;
  }
  return "too large";
}
