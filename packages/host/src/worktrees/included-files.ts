import { constants, copyFile, lstat, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { GitCommand } from "../git/git-command.ts";

/** The file that names ignored files which a worktree needs too, in the syntax of `.gitignore`. */
const INCLUDE_FILE = ".worktreeinclude";

const MAX_FILES = 10_000;
const MAX_BYTES = 1024 ** 3;

/** Copies the files that `.worktreeinclude` names from the user's checkout. Links are left out: they lead elsewhere. */
export async function copyIncluded(git: GitCommand, from: string, to: string): Promise<string[]> {
  const found = await lstat(join(from, INCLUDE_FILE)).catch(() => undefined);
  if (found === undefined || !found.isFile() || found.size > 64 * 1024) return [];
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
    await mkdir(dirname(join(to, path)), { recursive: true });
    await copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE);
    copied.push(path);
  }
  return copied;
}

/** Of these files, those that git ignores: others come with the commit or are the user's unfinished work. */
async function ignoredOf(git: GitCommand, listed: string): Promise<string[]> {
  const checked = await git.attempt(["check-ignore", "-z", "--stdin"], listed);
  return checked.stdout.split("\0").filter((path) => path !== "");
}
