import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { LIMITS } from "@flint/protocol";

/** Hidden files that steer neither agents nor shells. Every other hidden name is left to commands the user can see. */
const HARMLESS_HIDDEN = new Set([
  ".dockerignore",
  ".editorconfig",
  ".env.example",
  ".eslintignore",
  ".gitattributes",
  ".gitignore",
  ".node-version",
  ".npmignore",
  ".nvmrc",
  ".prettierignore",
  ".python-version",
]);

/** Why a file may not or cannot be written; the message is for people and for the model. */
export class FileRefusal extends Error {
  override readonly name = "FileRefusal";
}

/** One file inside the folders that may be written, with every link on the way to it resolved. */
export class WorkspaceFile {
  readonly path: string;
  /** From the root that it lies in. */
  readonly relativePath: string;

  private constructor(path: string, relativePath: string) {
    this.path = path;
    this.relativePath = relativePath;
  }

  /** Finds the file that a model means. Throws a FileRefusal if it lies outside or has a protected name. */
  static async locate(path: string, cwd: string, roots: readonly string[]): Promise<WorkspaceFile> {
    if (path.includes("\0") || path === "") throw new FileRefusal("That is not the name of a file.");
    const real = await realPlace(resolve(cwd, path));
    for (const root of await Promise.all(roots.map((root) => realpath(root).catch(() => root)))) {
      const inside = relative(root, real);
      if (inside === "" || inside === ".." || inside.startsWith(`..${sep}`)) continue;
      refuseProtected(inside);
      return new WorkspaceFile(real, inside.split(sep).join("/"));
    }
    throw new FileRefusal(`${path} lies outside of the folders that may be written (${roots.join(", ")}).`);
  }

  /** Its text; undefined if it does not exist. Throws a FileRefusal for anything that is not a text file. */
  async read(): Promise<string | undefined> {
    const found = await lstat(this.path).catch(() => undefined);
    if (found === undefined) return undefined;
    if (!found.isFile()) throw new FileRefusal(`${this.relativePath} is not a plain file.`);
    if (found.size > LIMITS.text) throw new FileRefusal(`${this.relativePath} is too large to be changed.`);
    const file = await open(this.path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      return decode(await file.readFile(), this.relativePath);
    } finally {
      await file.close();
    }
  }

  /** Replaces its text, if that is still `before`. Follows no link and throws a FileRefusal instead of writing elsewhere. */
  async replace(before: string | undefined, after: string): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true });
    const creation = before === undefined ? constants.O_CREAT | constants.O_EXCL : 0;
    // Not truncated while opening: what was opened is looked at before anything of it is lost.
    const file = await open(this.path, constants.O_RDWR | constants.O_NOFOLLOW | creation);
    try {
      await this.#check(file, before ?? "");
      await file.truncate(0);
      await writeAll(file, Buffer.from(after));
    } finally {
      await file.close();
    }
  }

  async #check(file: FileHandle, before: string): Promise<void> {
    const { nlink } = await file.stat();
    // Where there is no /proc the name cannot be checked a second time.
    const opened = await readlink(`/proc/self/fd/${file.fd}`).catch(() => this.path);
    if (opened !== this.path || nlink !== 1) {
      throw new FileRefusal(`${this.relativePath} leads to a file in another place.`);
    }
    if (decode(await file.readFile(), this.relativePath) !== before) {
      throw new FileRefusal(`${this.relativePath} was changed by somebody else in the meantime.`);
    }
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, at);
    at += bytesWritten;
  }
}

/** The path with its links resolved as far as it exists. */
async function realPlace(path: string): Promise<string> {
  const found = await lstat(path).catch(() => undefined);
  const parent = dirname(path);
  if (found !== undefined && (!found.isSymbolicLink() || parent === path)) return realpath(path);
  if (found !== undefined) throw new FileRefusal(`${path} is a link.`);
  return parent === path ? path : join(await realPlaceOfParent(parent), path.slice(parent.length));
}

function realPlaceOfParent(parent: string): Promise<string> {
  return realpath(parent).catch(() => realPlace(parent));
}

function refuseProtected(relativePath: string): void {
  const hidden = relativePath.split(sep).find((name) => name.startsWith(".") && !HARMLESS_HIDDEN.has(name));
  if (hidden === undefined) return;
  throw new FileRefusal(`${hidden} may steer agents, editors or shells, so it is not written this way.`);
}

function decode(bytes: Uint8Array, name: string): string {
  // Expected: a file that is not text. Writing it back would damage it.
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new FileRefusal(`${name} is not text.`);
  }
}
