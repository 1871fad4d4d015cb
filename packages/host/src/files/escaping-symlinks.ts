import { constants } from "node:fs";
import { type FileHandle, open, readdir, realpath, unlink } from "node:fs/promises";
import { sep } from "node:path";

/** The number of entries that are looked at, and how deep; the sessions of years have fewer. */
const MAX_ENTRIES = 50_000;
const MAX_DEPTH = 16;

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

/**
 * Removes the links in folders that lead out of a folder around them: a program that could write there has made them, and
 * one that writes there later, outside of its sandbox, would follow them. Never rejects.
 */
export async function removeEscapingSymlinks(folders: readonly string[], around: string): Promise<void> {
  // Expected: there is no such folder. Then there is nothing in it either.
  const limit = await realpath(around).catch(() => undefined);
  if (limit === undefined) return;
  const search = new LinkSearch(limit);
  for (const folder of folders) await search.cleanAt(folder, FOLDER, 0);
}

/** Goes from folder to folder by open handles, so that one that is swapped for a link is not entered. */
class LinkSearch {
  readonly #limit: string;
  #looked = 0;

  constructor(limit: string) {
    this.#limit = limit;
  }

  async cleanAt(path: string, flags: number, depth: number): Promise<void> {
    const folder = await open(path, flags).catch(() => undefined);
    if (folder === undefined) return;
    // Expected: entries that vanish meanwhile.
    await this.#clean(folder, depth)
      .catch(() => undefined)
      .finally(() => folder.close());
  }

  async #clean({ fd }: FileHandle, depth: number): Promise<void> {
    const at = `/proc/self/fd/${fd}`;
    for (const entry of await readdir(at, { withFileTypes: true })) {
      this.#looked += 1;
      if (this.#looked > MAX_ENTRIES) return;
      const path = `${at}/${entry.name}`;
      if (entry.isDirectory() && depth < MAX_DEPTH)
        await this.cleanAt(path, FOLDER | constants.O_NOFOLLOW, depth + 1);
      else if (entry.isSymbolicLink() && !(await this.#leadsInside(path)))
        await unlink(path).catch(() => undefined);
    }
  }

  /** A dangling link does not: what it leads to may be created later. */
  async #leadsInside(link: string): Promise<boolean> {
    const target = await realpath(link).catch(() => undefined);
    return target?.startsWith(this.#limit + sep) === true;
  }
}
