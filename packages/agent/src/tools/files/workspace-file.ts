import { constants } from "node:fs";
import { type FileHandle, lstat, open, realpath, unlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { asFileAccessError, FileAccessError } from "@flint/host/files";
import type { ThreadSettings } from "@flint/protocol";
import { OpenFolder, removeFolders } from "./open-folder.ts";
import { rejectProtected } from "./protected-names.ts";
import { pathWithin } from "./readable-path.ts";

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const WRITE = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Both texts of a change go over the wire in one line, so neither can be of any size. */
const CHANGED_BYTES = 4 * 1024 * 1024;

/** The text of a file, and what it may be used for. */
export interface FileContent {
  readonly text: string;
  readonly mode: number;
}

/** One file inside the folders that may be written, with every link on the way to it resolved. */
export class WorkspaceFile {
  readonly path: string;
  /** From the root that it lies in. */
  readonly relativePath: string;
  readonly #root: string;
  #madeFolders: readonly string[] = [];

  private constructor(root: string, relativePath: string) {
    this.path = join(root, relativePath);
    this.relativePath = relativePath;
    this.#root = root;
  }

  /** Finds the file that a model means. Throws a FileRefusal if it lies outside or has a protected name. */
  static async locate(path: string, settings: ThreadSettings): Promise<WorkspaceFile> {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: such names would forge the lines of a diff
    if (path === "" || /[\u0000-\u001f\u007f]/.test(path))
      throw new FileAccessError("That is not the name of a file.");
    const roots = writableRoots(settings);
    const real = await realPlace(resolve(settings.cwd, path));
    for (const root of await Promise.all(roots.map((root) => realpath(root).catch(() => root)))) {
      const inside = pathWithin(root, real);
      if (inside === undefined || inside === "") continue;
      rejectProtected(inside);
      return new WorkspaceFile(root, inside);
    }
    throw new FileAccessError(
      `${path} lies outside of the folders that may be written (${roots.join(", ")}).`,
    );
  }

  /** Its content; undefined if it does not exist. Throws a FileRefusal for anything that is not a text file. */
  async read(): Promise<FileContent | undefined> {
    return this.#inFolder({ make: false }, async (folder) => {
      const found = await lstat(folder.pathTo(this.#name)).catch(() => undefined);
      if (found === undefined) return undefined;
      if (!found.isFile()) throw new FileAccessError(`${this.relativePath} is not a plain file.`);
      if (found.size > CHANGED_BYTES)
        throw new FileAccessError(`${this.relativePath} is too large to be changed.`);
      const file = await open(folder.pathTo(this.#name), READ);
      return closing(file, async () => {
        const { mode } = await this.#refuseOther(file);
        return { text: decode(await file.readFile(), this.relativePath), mode: mode & 0o777 };
      });
    });
  }

  /** Makes the file. Throws if something is there already. */
  async create(text: string, mode?: number): Promise<void> {
    await this.#inFolder({ make: true }, async (folder) => {
      const flags = WRITE | constants.O_CREAT | constants.O_EXCL;
      const file = await open(folder.pathTo(this.#name), flags, 0o600);
      // Expected: a full disk. Half a file is worse than none.
      try {
        await closing(file, async () => {
          await writeAll(file, Buffer.from(text));
          await file.chmod(mode ?? (await folder.fileMode()));
        });
      } catch (error) {
        await unlink(folder.pathTo(this.#name));
        await removeFolders(folder.made);
        throw error;
      }
      this.#madeFolders = folder.made;
    });
  }

  /** Undoes `create`, if the text is still the same: the file goes, with the folders that were made for it. */
  async undoCreate(text: string): Promise<void> {
    await this.remove(text);
    await removeFolders(this.#madeFolders);
  }

  /** Replaces its text, if that is still `before`. It stays the same file, with all that belongs to it. */
  async replace(before: string, after: string): Promise<void> {
    const replaced = await this.#inFolder({ make: false }, async (folder) => {
      const file = await open(folder.pathTo(this.#name), WRITE);
      await closing(file, async () => {
        await this.#refuseChanged(file, before);
        // Expected: a full disk. What was there is put back.
        try {
          await overwrite(file, after);
        } catch (error) {
          await overwrite(file, before);
          throw error;
        }
      });
      return true;
    });
    if (replaced === undefined) throw this.#gone();
  }

  /** Deletes it, if its text is still `before`. */
  async remove(before: string): Promise<void> {
    const removed = await this.#inFolder({ make: false }, async (folder) => {
      const file = await open(folder.pathTo(this.#name), READ);
      await closing(file, () => this.#refuseChanged(file, before));
      await unlink(folder.pathTo(this.#name));
      return true;
    });
    if (removed === undefined) throw this.#gone();
  }

  get #name(): string {
    return basename(this.path);
  }

  #gone(): FileAccessError {
    return new FileAccessError(`The folder of ${this.relativePath} is no longer there.`);
  }

  /** Undefined if the folder is not there and not to be made. */
  async #inFolder<Result>(
    wish: { readonly make: boolean },
    work: (folder: OpenFolder) => Promise<Result>,
  ): Promise<Result | undefined> {
    const names = this.relativePath.split("/").slice(0, -1);
    // Expected: a folder without permission, a full disk. Our way into the folder says nothing to anybody.
    try {
      const folder = await OpenFolder.open(this.#root, names, wish);
      if (folder === undefined) return undefined;
      return await work(folder).finally(() => folder.close());
    } catch (thrown) {
      throw asFileAccessError(this.path, thrown) ?? thrown;
    }
  }

  /** What was opened is looked at before anything of it is used or lost. */
  async #refuseOther(file: FileHandle): Promise<{ readonly mode: number }> {
    const found = await file.stat();
    if (!found.isFile()) throw new FileAccessError(`${this.relativePath} is not a plain file.`);
    if (found.nlink !== 1) {
      throw new FileAccessError(
        `${this.relativePath} is also a file in another place, so it is not touched.`,
      );
    }
    return found;
  }

  async #refuseChanged(file: FileHandle, before: string): Promise<void> {
    await this.#refuseOther(file);
    if (decode(await file.readFile(), this.relativePath) !== before) {
      throw new FileAccessError(
        `${this.relativePath} was changed by somebody else in the meantime. Read it again.`,
      );
    }
  }
}

/** The folders that the policy lets be written. A freer sandbox frees commands, not these tools. */
function writableRoots({ cwd, sandboxPolicy }: ThreadSettings): readonly string[] {
  switch (sandboxPolicy.type) {
    case "readOnly":
      throw new FileAccessError("The sandbox policy readOnly lets no file be changed.");
    case "workspaceWrite":
      return [cwd, ...(sandboxPolicy.writableRoots ?? [])];
    case "dangerFullAccess":
    case "externalSandbox":
      return [cwd];
  }
}

async function closing<Result>(file: FileHandle, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } finally {
    await file.close();
  }
}

async function overwrite(file: FileHandle, text: string): Promise<void> {
  await file.truncate(0);
  await writeAll(file, Buffer.from(text));
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
  if (found !== undefined) throw new FileAccessError(`${path} is a link.`);
  return parent === path ? path : join(await realPlaceOfParent(parent), basename(path));
}

function realPlaceOfParent(parent: string): Promise<string> {
  return realpath(parent).catch(() => realPlace(parent));
}

function decode(bytes: Uint8Array, name: string): string {
  // Expected: a file that is not text. Writing it back would damage it.
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new FileAccessError(`${name} is not text.`, { cause });
  }
}
