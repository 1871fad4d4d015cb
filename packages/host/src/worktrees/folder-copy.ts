import { cp, mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorMessage, FlintError } from "@flint/protocol";
import type { GitCommand } from "../git/git-command.ts";
import { FLINT_IDENTITY, type WorktreeRepository } from "./worktree-repository.ts";

/**
 * A repository with a copy of a folder that is in none, so that everything works as with git; the result is a
 * patch. Made once: later attempts start from the same copy.
 */
export async function copyFolder(
  folder: string,
  home: string,
  gitIn: (folder: string) => GitCommand,
): Promise<WorktreeRepository> {
  const top = join(home, "copy");
  const commonDir = join(top, ".git");
  const isMade = await stat(commonDir).then(
    () => true,
    () => false,
  );
  if (!isMade) {
    // Made aside and moved when it is complete: a copy that was cut off is never taken for a whole one.
    const partial = `${top}.partial`;
    await rm(partial, { recursive: true, force: true });
    await mkdir(dirname(partial), { recursive: true, mode: 0o700 });
    await copyAll(folder, partial);
    // What is in the folder may be anybody's: no settings in it count, and no filter of the user runs on it.
    await rm(join(partial, ".git"), { recursive: true, force: true });
    const git = gitIn(partial).with({ ...FLINT_IDENTITY, ...NO_SETTINGS });
    await git.run(["init", "--quiet", "--initial-branch=main"]);
    await git.run(["add", "--all"]);
    await git.run(["commit", "--quiet", "--allow-empty", "--no-verify", "-m", `Copy of ${folder}`]);
    await rename(partial, top);
  }
  return { top, commonDir, subfolder: "", isCopy: true };
}

const NO_SETTINGS = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

async function copyAll(from: string, to: string): Promise<void> {
  // Expected: the folder is gone or cannot be read, or the disk is full.
  try {
    await cp(from, to, { recursive: true, verbatimSymlinks: true, errorOnExist: true });
  } catch (thrown) {
    const reason = errorMessage(thrown);
    throw new FlintError("invalidParams", `${from} cannot be copied for the task: ${reason}`);
  }
}
