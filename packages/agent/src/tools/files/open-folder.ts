import { constants } from "node:fs";
import { access, type FileHandle, mkdir, open, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { FileAccessError } from "@flint/host/files";

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * A folder that was reached from its root one name at a time, without following any link, and is held open. Names in
 * it are used through the open folder, so whoever swaps a folder for a link on the way to it changes nothing.
 */
export class OpenFolder {
  readonly #folder: FileHandle;
  readonly #path: string;
  /** Whether an open folder can be used as a path, which needs /proc. */
  readonly #isHeld: boolean;
  readonly #made: readonly string[];

  private constructor(folder: FileHandle, path: string, isHeld: boolean, createdFolders: readonly string[]) {
    this.#folder = folder;
    this.#path = path;
    this.#isHeld = isHeld;
    this.#made = createdFolders;
  }

  /**
   * Opens the folder that lies in a root under these names. Undefined if it does not exist and is not to be made.
   * Throws a FileRefusal if a link or a file is in the way.
   */
  static async open(
    root: string,
    names: readonly string[],
    wish: { readonly make: boolean },
  ): Promise<OpenFolder | undefined> {
    const first = await open(root, FOLDER);
    const isHeld = await isReachable(`/proc/self/fd/${first.fd}/.`);
    let chain = new OpenFolder(first, root, isHeld, []);
    for (const name of names) {
      // Expected: whatever can be in the way. The chain so far must not stay open then.
      const next = await chain.#into(name, wish.make).catch(async (error: unknown) => {
        await chain.close();
        throw error;
      });
      await chain.close();
      if (next === undefined) return undefined;
      chain = next;
    }
    return chain;
  }

  /** A path to a name in this folder that leads nowhere else. */
  pathTo(name: string): string {
    return this.#isHeld ? `/proc/self/fd/${this.#folder.fd}/${name}` : join(this.#path, name);
  }

  /** What new files in here may be used for by others: as the folder itself. */
  async fileMode(): Promise<number> {
    return (await this.#folder.stat()).mode & 0o666;
  }

  /** The folders that were made on the way, the innermost last. */
  get made(): readonly string[] {
    return this.#made;
  }

  async close(): Promise<void> {
    await this.#folder.close();
  }

  async #into(name: string, make: boolean): Promise<OpenFolder | undefined> {
    const path = join(this.#path, name);
    const found = await openFolder(this.pathTo(name), path);
    if (found !== undefined) return new OpenFolder(found, path, this.#isHeld, this.#made);
    if (!make) return undefined;
    const { mode } = await this.#folder.stat();
    await mkdir(this.pathTo(name));
    const made = await openFolder(this.pathTo(name), path);
    if (made === undefined) throw new FileAccessError(`${path} was removed while it was being made.`);
    // Made for its owner only; now it is as open as the folder that it lies in.
    await made.chmod(mode & 0o777);
    return new OpenFolder(made, path, this.#isHeld, [...this.#made, path]);
  }
}

/** Takes away folders that were made for nothing, the innermost last in the list. */
export async function removeFolders(made: readonly string[]): Promise<void> {
  // Expected: a folder that somebody has put something into by now.
  for (const path of made.toReversed()) await rmdir(path).catch(() => undefined);
}

async function openFolder(place: string, shown: string): Promise<FileHandle | undefined> {
  // Expected: nothing there; a link or a file instead of a folder.
  try {
    return await open(place, FOLDER);
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
