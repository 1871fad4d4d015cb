import { constants } from "node:fs";
import { access, type FileHandle, mkdir, open, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { FileAccessError } from "@flint/host/files";
import { identityOf } from "@flint/host/folder-identity";

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * A folder that was opened from its root one name at a time, without following any link, and is held open. Names in
 * it are resolved through the open folder, so replacing a folder on the path by a link changes nothing.
 */
export class OpenFolder {
  readonly #folder: FileHandle;
  readonly #path: string;
  /** True if the open folder can be used as a path, which needs /proc. */
  readonly #isHeld: boolean;
  readonly #created: readonly string[];

  private constructor(folder: FileHandle, path: string, isHeld: boolean, createdFolders: readonly string[]) {
    this.#folder = folder;
    this.#path = path;
    this.#isHeld = isHeld;
    this.#created = createdFolders;
  }

  /**
   * Opens the folder with these names below a root. Undefined if it does not exist and should not be created.
   * Throws a FileAccessError if there is a link or a file on the path, or if the root is not the folder with this identity.
   */
  static async open(
    root: string,
    names: readonly string[],
    options: { readonly create: boolean; readonly identity?: string | undefined },
  ): Promise<OpenFolder | undefined> {
    const first = await open(root, FOLDER);
    const { identity } = options;
    if (identity !== undefined && identity !== identityOf(await first.stat({ bigint: true }))) {
      await first.close();
      throw new FileAccessError(`${root} was replaced by another folder.`);
    }
    const isHeld = await isReachable(`/proc/self/fd/${first.fd}/.`);
    let folder = new OpenFolder(first, root, isHeld, []);
    for (const name of names) {
      // Expected: whatever can be on the path. The folder so far must not stay open then.
      const next = await folder.#enter(name, options.create).catch(async (error: unknown) => {
        await folder.close();
        throw error;
      });
      await folder.close();
      if (next === undefined) return undefined;
      folder = next;
    }
    return folder;
  }

  /** The path of a name in this folder, through the open folder. */
  pathTo(name: string): string {
    return this.#isHeld ? `/proc/self/fd/${this.#folder.fd}/${name}` : join(this.#path, name);
  }

  /** The mode of new files in this folder: that of the folder itself. */
  async fileMode(): Promise<number> {
    return (await this.#folder.stat()).mode & 0o666;
  }

  /** The folders that were created on the path, the innermost last. */
  get createdFolders(): readonly string[] {
    return this.#created;
  }

  async close(): Promise<void> {
    await this.#folder.close();
  }

  async #enter(name: string, create: boolean): Promise<OpenFolder | undefined> {
    const path = join(this.#path, name);
    const found = await openFolder(this.pathTo(name), path);
    if (found !== undefined) return new OpenFolder(found, path, this.#isHeld, this.#created);
    if (!create) return undefined;
    const { mode } = await this.#folder.stat();
    await mkdir(this.pathTo(name));
    const opened = await openFolder(this.pathTo(name), path);
    if (opened === undefined) throw new FileAccessError(`${path} was removed while it was being created.`);
    // Gets the mode of its parent folder.
    await opened.chmod(mode & 0o777);
    return new OpenFolder(opened, path, this.#isHeld, [...this.#created, path]);
  }
}

/** Removes folders that were created for nothing, the innermost last in the list. */
export async function removeFolders(created: readonly string[]): Promise<void> {
  // Expected: a folder that is no longer empty.
  for (const path of created.toReversed()) await rmdir(path).catch(() => undefined);
}

async function openFolder(target: string, shown: string): Promise<FileHandle | undefined> {
  // Expected: nothing, or a link or a file instead of a folder.
  try {
    return await open(target, FOLDER);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return undefined;
    if (code === "ENOTDIR" || code === "ELOOP") {
      throw new FileAccessError(`${shown} is not a folder, or it is a link.`, { cause: error });
    }
    throw error;
  }
}

function isReachable(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
