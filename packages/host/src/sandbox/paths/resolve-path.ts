import type { Stats } from "node:fs";
import { lstat, mkdir, readlink } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import { FlintError } from "@flint/protocol";

/** As many as the kernel follows. */
const MOST_LINKS = 40;

/** How a path is reached on this machine. */
export interface Way {
  /** Where it is, without links. */
  readonly path: string;
  /** What on the way there, the end included, lies in a folder that commands may write, and so could be moved away. */
  readonly steps: readonly string[];
}

/** Whether commands may write what lies directly in a folder. */
export type IsOpen = (folder: string) => boolean;

/** What is done about a name in an open folder that nothing has yet: a folder is made, or no command is run. */
export type Missing = "make" | "refuse";

/**
 * Goes to a path name by name. Undefined if nothing is there and no command could put anything there either. Rejects
 * with `sandboxUnavailable` if a command could lead the path elsewhere, because no mount keeps it from doing so.
 */
export async function wayTo(path: string, isOpen: IsOpen, missing: Missing): Promise<Way | undefined> {
  const steps: string[] = [];
  let at: string = sep;
  let names = namesOf(resolve(path));
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const next = join(at, name);
    const isMovable = name !== ".." && isOpen(at);
    const found = await look(next, isMovable, missing);
    if (found === undefined) return undefined;
    if (found.isSymbolicLink()) {
      links += 1;
      if (isMovable) throw cannotGuard(next, "it is a link, and a link cannot be kept from being replaced");
      if (links > MOST_LINKS) throw cannotGuard(next, "its links lead in a circle");
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

async function look(path: string, isMovable: boolean, missing: Missing): Promise<Stats | undefined> {
  // Expected: nothing is there, or it is not for us to look at. What no command can write cannot be put there.
  try {
    return await lstat(path);
  } catch (thrown) {
    if (!isMovable) return undefined;
    if (codeOf(thrown) !== "ENOENT") throw cannotGuard(path, reasonOf(thrown));
    if (missing === "refuse") throw cannotGuard(path, "it does not exist, and the command could make it");
    return make(path);
  }
}

/** Only what exists can be mounted over. It stays: to remove it would take its protection from commands of others. */
async function make(path: string): Promise<Stats | undefined> {
  // Expected: somebody else makes it in this instant, or nobody can.
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

/** Whoever owns a folder can give themselves the right to write it. */
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
  const message = `Did not run the command: ${path} leads to Flint's own state or settings and cannot be protected from it, because ${reason}. Put what it leads to in its place, work in a folder that does not contain it, or choose --sandbox read-only (readOnly).`;
  return new FlintError("sandboxUnavailable", message, { path });
}
