import { constants, copyFile, lstat, mkdir, readlink, symlink } from "node:fs/promises";
import { dirname, isAbsolute, join, sep } from "node:path";
import type { GitCommand } from "../git/git-command.ts";
import { INCLUDE_FILE } from "../steering/index.ts";
import type { WorktreeRepository } from "./worktree-repository.ts";

const MAX_FILES = 200_000;
const MAX_BYTES = 4 * 1024 ** 3;
const CONCURRENCY = 16;

/** The user's trust in the files of a project. */
export interface ProjectTrust {
  /** Reports whether the user trusts this file of a project as it is now. */
  isTrusted(folder: string, path: string): Promise<boolean>;
  /** Variables with which git runs nothing that the repository of a folder names, unless the user trusts that. */
  gitVariables(folder: string): Promise<Readonly<Record<string, string>>>;
}

/** The files that were copied from the user's checkout, and notices about them for the user. */
export interface Included {
  readonly paths: readonly string[];
  readonly notices: readonly string[];
}

/**
 * Copies the files that `.worktreeinclude` names from the user's checkout, if the user trusts that file: cached folders such
 * as `node_modules` too, as clones where the file system has them. A link is copied only if it stays in the worktree.
 */
export async function copyIncluded(
  git: GitCommand,
  { top: from, isCopy }: WorktreeRepository,
  to: string,
  trust: Pick<ProjectTrust, "isTrusted">,
): Promise<Included> {
  const found = await lstat(join(from, INCLUDE_FILE)).catch(() => undefined);
  if (found === undefined || !found.isFile() || found.size > 64 * 1024 || isCopy === true) return NOTHING;
  if (!(await trust.isTrusted(from, INCLUDE_FILE))) return { paths: [], notices: [UNTRUSTED] };
  const listed = await git.run([
    "ls-files",
    "-z",
    "--others",
    "--ignored",
    `--exclude-from=${join(from, INCLUDE_FILE)}`,
  ]);
  const ignored = new Set(await ignoredOf(git, listed));
  const paths = listed.split("\0").filter((name) => ignored.has(name));
  return new IncludedCopy(from, to).copy(paths);
}

const NOTHING: Included = { paths: [], notices: [] };
const UNTRUSTED = `${INCLUDE_FILE} is not trusted, so no ignored files were copied. Review it with flint trust.`;

/** One copy of included files, several at a time and up to the limits. */
class IncludedCopy {
  readonly #from: string;
  readonly #to: string;
  /** The folders that are known to be real ones. */
  readonly #folders = new Map<string, Promise<boolean>>();
  #bytes = 0;

  constructor(from: string, to: string) {
    this.#from = from;
    this.#to = to;
  }

  async copy(paths: readonly string[]): Promise<Included> {
    const copied = new Set<string>();
    let next = 0;
    const copyRest = async () => {
      for (let path = paths[next]; path !== undefined && this.#hasRoom(next); path = paths[next]) {
        next += 1;
        if (await this.#copyOne(path)) copied.add(path);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, copyRest));
    const left = paths.length - next;
    const limit = `up to ${MAX_FILES} files and ${MAX_BYTES / 1024 ** 3} GiB are`;
    const notices = left <= 0 ? [] : [`${left} files that ${INCLUDE_FILE} names were not copied: ${limit}.`];
    return { paths: paths.filter((path) => copied.has(path)), notices };
  }

  #hasRoom(count: number): boolean {
    return count < MAX_FILES && this.#bytes < MAX_BYTES;
  }

  async #copyOne(path: string): Promise<boolean> {
    const [from, to] = [join(this.#from, path), join(this.#to, path)];
    const info = await lstat(from).catch(() => undefined);
    const isLink = info?.isSymbolicLink() === true;
    if (info === undefined || !(info.isFile() || isLink) || !(await this.#makeFolder(dirname(path))))
      return false;
    this.#bytes += info.size;
    // Expected: the commit has something of that name, or the file has gone.
    try {
      if (isLink) return await copyLink(from, to, path);
      await copyFile(from, to, NEW_COPY);
      return true;
    } catch {
      return false;
    }
  }

  #makeFolder(path: string): Promise<boolean> {
    const known = this.#folders.get(path) ?? makeFoldersIn(this.#to, path);
    this.#folders.set(path, known);
    return known;
  }
}

/** Copies a link that leads upwards only at its start, and not out of the worktree. */
async function copyLink(from: string, to: string, path: string): Promise<boolean> {
  const target = await readlink(from);
  const [, up = "", down = ""] = /^((?:\.\.\/)*)(.*)$/.exec(target) ?? [];
  const depth = path.split(sep).length - 1;
  const isInside =
    !isAbsolute(target) && up.length / "../".length <= depth && !down.split("/").includes("..");
  if (isInside) await symlink(target, to);
  return isInside;
}

/** A clone where the file system has them, and never in place of anything, not even through a link. */
const NEW_COPY = constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL;

/** Makes the folders of a path; false if one of them is something else, such as a link that leads out of the worktree. */
export async function makeFoldersIn(top: string, path: string): Promise<boolean> {
  let folder = top;
  for (const name of path.split(sep).filter((part) => part !== "." && part !== "")) {
    folder = join(folder, name);
    // Expected: it is there already.
    await mkdir(folder).catch(() => undefined);
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isDirectory() !== true) return false;
  }
  return true;
}

/** Of these files, those that git ignores: others come with the commit or are the user's unfinished work. */
async function ignoredOf(git: GitCommand, listed: string): Promise<string[]> {
  const checked = await git.attempt(["check-ignore", "-z", "--stdin"], listed);
  return checked.stdout.split("\0").filter((path) => path !== "");
}
