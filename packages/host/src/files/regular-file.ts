import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath, statfs } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isPathIn } from "@flint/protocol";

/** Thrown where a file may not or cannot be read or written; its message is for users and for the model. */
export class FileAccessError extends Error {
  override readonly name = "FileAccessError";
}

/** Converts a system error into a FileAccessError that names the file by its real path; undefined for any other error. */
export function asFileAccessError(path: string, thrown: unknown): FileAccessError | undefined {
  if (!(thrown instanceof Error && "code" in thrown && "syscall" in thrown)) return undefined;
  const code = String(thrown.code);
  // Node writes "EACCES: permission denied, open '/path'".
  const [, reason = "it cannot be used"] = /^[A-Z0-9]+: ([^,]+)/.exec(thrown.message) ?? [];
  return new FileAccessError(`${path}: ${reason} (${code}).`, { cause: thrown });
}

/** Folders in which the kernel exposes processes, memory and devices as files. */
const KERNEL_FOLDERS = ["/proc", "/sys", "/dev"];

/** The same file systems mounted anywhere else: proc, sysfs, cgroup, cgroup2, devpts, debugfs. */
const KERNEL_FILE_SYSTEMS = new Set([0x9fa0, 0x62656572, 0x27e0eb, 0x63677270, 0x1cd1, 0x64626720]);

/** Never blocks, even on a pipe that replaces the file at the last moment. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Resolves all links of a path. Throws a FileAccessError if it does not exist or is a kernel file. */
export async function realPathOf(path: string, shown: string = path): Promise<string> {
  if (path.includes("\0")) throw new FileAccessError("That is not a valid file name.");
  const real = await realpath(path).catch((error: NodeJS.ErrnoException) => {
    throw new FileAccessError(
      `${shown} ${error.code === "ENOENT" ? "does not exist" : "cannot be reached"}.`,
    );
  });
  if (KERNEL_FOLDERS.some((folder) => isPathIn(real, folder))) {
    throw new FileAccessError(`${shown} belongs to the system and is not read.`);
  }
  return real;
}

/**
 * Reads a plain file. Devices, pipes, sockets and kernel files are rejected, also when they replace the file at the last
 * moment.
 */
export async function readPlainFile(path: string, limit: number, shown: string = path): Promise<Buffer> {
  const real = await realPathOf(path, shown);
  const found = await lstat(real);
  if (found.isDirectory()) throw new FileAccessError(`${shown} is a folder.`);
  if (!found.isFile()) throw new FileAccessError(`${shown} is not a plain file.`);
  const file = await open(real, READ);
  try {
    await assertPlain(file, real, shown);
    const { size } = await file.stat();
    if (size > limit)
      throw new FileAccessError(`${shown} is too large: ${size} bytes, and the limit is ${limit}.`);
    return await readAtMost(file, limit);
  } finally {
    await file.close();
  }
}

async function assertPlain(file: FileHandle, path: string, shown: string): Promise<void> {
  if (!(await file.stat()).isFile()) throw new FileAccessError(`${shown} is not a plain file.`);
  // Without /proc there are no kernel files to protect either.
  const opened = `/proc/self/fd/${file.fd}`;
  if ((await readlink(opened).catch(() => path)) !== path)
    throw new FileAccessError(`${shown} was replaced by a link.`);
  const system = await statfs(opened).catch(() => undefined);
  if (system !== undefined && KERNEL_FILE_SYSTEMS.has(system.type)) {
    throw new FileAccessError(`${shown} belongs to the system and is not read.`);
  }
}

/** A file may grow while it is read. */
async function readAtMost(file: FileHandle, limit: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let size = 0; size < limit; ) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(65_536, limit - size)), 0);
    if (bytesRead === 0) break;
    pieces.push(buffer.subarray(0, bytesRead));
    size += bytesRead;
  }
  return Buffer.concat(pieces);
}

/** A file that exists but cannot be shown: too large, not text, or not a plain file. */
export const UNREADABLE = Symbol("unreadable");

/** The content of a file; undefined if there is none. */
export type Content = string | undefined | typeof UNREADABLE;

/** Reads a plain UTF-8 file of at most `limit` bytes. Never rejects, and never waits for a pipe or a device. */
export async function readRegularText(path: string, limit: number): Promise<Content> {
  if (await isMissing(path)) return undefined;
  const bytes = await readRegularBytes(path, limit);
  if (bytes === undefined) return UNREADABLE;
  // Expected: bytes that are not text.
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return UNREADABLE;
  }
}

/** Reads a plain file of at most `limit` bytes; undefined where `readPlainFile` would reject. Never rejects. */
export function readRegularBytes(path: string, limit: number): Promise<Buffer | undefined> {
  return readPlainFile(path, limit).catch(() => undefined);
}

/**
 * Reads a plain UTF-8 file of at most `limit` bytes that is not a link itself; undefined for anything else. Never rejects.
 * For files that grant something: the target of a link can change unnoticed.
 */
export async function readTextNoFollow(path: string, limit: number): Promise<string | undefined> {
  const folder = await realpath(dirname(path)).catch(() => undefined);
  const unlinked = folder === undefined ? undefined : join(folder, basename(path));
  const found = unlinked === undefined ? undefined : await lstat(unlinked).catch(() => undefined);
  if (unlinked === undefined || found?.isFile() !== true) return undefined;
  // If it has become a link since, its real path differs.
  const bytes = await realpath(unlinked).then(
    (real) => (real === unlinked ? readRegularBytes(unlinked, limit) : undefined),
    () => undefined,
  );
  return bytes?.toString("utf8");
}

/** Like `readRegularText` but synchronous, and undefined for anything that cannot be read. */
export function readRegularTextSync(path: string, limit: number): string | undefined {
  // Expected: it does not exist or may not be read.
  try {
    const file = openSync(realpathSync.native(path), READ);
    try {
      const found = fstatSync(file);
      if (!found.isFile() || found.size > limit) return undefined;
      const bytes = Buffer.alloc(found.size);
      return bytes.toString("utf8", 0, readSync(file, bytes, 0, bytes.length, 0));
    } finally {
      closeSync(file);
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

/** The first line of a plain file of at most `limit` bytes, without blanks at its end; undefined if it cannot be read. */
export async function firstLine(path: string, limit: number): Promise<string | undefined> {
  const text = await readRegularText(path, limit);
  return typeof text === "string" ? text.split("\n", 1)[0]?.trimEnd() : undefined;
}
