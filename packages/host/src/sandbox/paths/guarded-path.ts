import type { Stats } from "node:fs";
import { lstat, mkdir, readlink } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import { FlintError } from "@flint/protocol";

/** As many links as the kernel follows. */
const MAX_LINKS = 40;

/** A path with everything on the way that a command could move. */
export interface ResolvedPath {
  /** The real path. */
  readonly path: string;
  /** The folders on the way, and the path itself, that are in a writable folder and so could be moved. */
  readonly steps: readonly string[];
}

/** Whether commands may write directly in a folder. */
export type IsWritable = (folder: string) => boolean;

/** What happens to a missing name in a writable folder: a folder is created, or the command is rejected. */
export type IfMissing = "create" | "reject";

/**
 * Resolves a path name by name. Undefined if nothing is there and no command could create it. Rejects with
 * `sandboxUnavailable` if a command could redirect the path, because no mount prevents that.
 */
export async function resolvePath(
  path: string,
  isWritable: IsWritable,
  ifMissing: IfMissing,
): Promise<ResolvedPath | undefined> {
  const steps: string[] = [];
  let at: string = sep;
  let names = namesOf(resolve(path));
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const next = join(at, name);
    const isMovable = name !== ".." && isWritable(at);
    const found = await look(next, isMovable, ifMissing);
    if (found === undefined) return undefined;
    if (found.isSymbolicLink()) {
      links += 1;
      if (isMovable) throw cannotGuard(next, "it is a link, and a link cannot be kept from being replaced");
      if (links > MAX_LINKS) throw cannotGuard(next, "its links form a loop");
      const target = await readlink(next);
      if (isAbsolute(target)) at = sep;
      names = [...namesOf(target), ...names];
    } else {
      at = next;
      if (isMovable) steps.push(next);
    }
  }
  return { path: at, steps };
}

function namesOf(path: string): string[] {
  return path.split(sep).filter((name) => name !== "" && name !== ".");
}

async function look(path: string, isMovable: boolean, ifMissing: IfMissing): Promise<Stats | undefined> {
  // Expected: nothing is there, or it is not accessible. In a folder that no command can write, nothing can be created.
  try {
    return await lstat(path);
  } catch (thrown) {
    if (!isMovable) return undefined;
    if (codeOf(thrown) !== "ENOENT") throw cannotGuard(path, reasonOf(thrown));
    if (ifMissing === "reject") throw cannotGuard(path, "it does not exist, and the command could make it");
    return make(path);
  }
}

/** Only what exists can be mounted over. It is never removed, because other commands may rely on it. */
async function make(path: string): Promise<Stats | undefined> {
  // Expected: it was created in this instant, or it cannot be created by anyone.
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === "EROFS" || ((code === "EACCES" || code === "EPERM") && !(await isOurs(dirname(path)))))
      return undefined;
    if (code !== "EEXIST") throw cannotGuard(path, reasonOf(thrown));
  }
  return lstat(path);
}

/** The owner of a folder can make it writable. */
async function isOurs(folder: string): Promise<boolean> {
  return (await lstat(folder)).uid === process.getuid?.();
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function cannotGuard(path: string, reason: string): FlintError {
  const message = `Did not run the command: ${path} leads to Flint's own state or settings and cannot be protected from it, because ${reason}. Replace it by what it links to, work in a folder that does not contain it, or choose --sandbox read-only (readOnly).`;
  return new FlintError("sandboxUnavailable", message, { path });
}
