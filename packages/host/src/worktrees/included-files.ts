import { constants, copyFile, lstat, mkdir } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import type { GitCommand } from "../git/git-command.ts";
import { INCLUDE_FILE } from "../steering/index.ts";
import type { WorktreeRepository } from "./worktree-repository.ts";

const MAX_FILES = 10_000;
const MAX_BYTES = 1024 ** 3;

/** The user's trust in the files of a project. */
export interface ProjectTrust {
  /** Reports whether the user trusts this file of a project as it is now. */
  isTrusted(folder: string, path: string): Promise<boolean>;
  /** Variables with which git runs nothing that the repository of a folder names, unless the user trusts that. */
  gitVariables(folder: string): Promise<Readonly<Record<string, string>>>;
}

/**
 * Copies the files that `.worktreeinclude` names from the user's checkout, if the user trusts that file. Links are left
 * out: they lead elsewhere.
 */
export async function copyIncluded(
  git: GitCommand,
  { top: from, isCopy }: WorktreeRepository,
  to: string,
  trust: Pick<ProjectTrust, "isTrusted">,
): Promise<string[] | "untrusted"> {
  const found = await lstat(join(from, INCLUDE_FILE)).catch(() => undefined);
  if (found === undefined || !found.isFile() || found.size > 64 * 1024 || isCopy === true) return [];
  if (!(await trust.isTrusted(from, INCLUDE_FILE))) return "untrusted";
  const listed = await git.run([
    "ls-files",
    "-z",
    "--others",
    "--ignored",
    `--exclude-from=${join(from, INCLUDE_FILE)}`,
  ]);
  const ignored = new Set(await ignoredOf(git, listed));
  const copied: string[] = [];
  let bytes = 0;
  for (const path of listed
    .split("\0")
    .filter((name) => ignored.has(name))
    .slice(0, MAX_FILES)) {
    const info = await lstat(join(from, path)).catch(() => undefined);
    if (info === undefined || !info.isFile()) continue;
    bytes += info.size;
    if (bytes > MAX_BYTES) break;
    if (!(await makeFoldersIn(to, dirname(path)))) continue;
    // Expected: the commit has something of that name.
    const copy = copyFile(join(from, path), join(to, path), NEW_COPY);
    if (
      await copy.then(
        () => true,
        () => false,
      )
    )
      copied.push(path);
  }
  return copied;
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
