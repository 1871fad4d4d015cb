import { lstat, mkdtemp, readdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FlintError } from "@flint/protocol";
import type { GitCommand, GitLocation } from "../git/git-command.ts";
import type { WorktreeRepository } from "./worktree-repository.ts";

/**
 * Returns the folder of a worktree in the git directory; undefined if the repository does not know the
 * worktree.
 */
export async function gitDirOf({ commonDir }: WorktreeRepository, top: string): Promise<string | undefined> {
  const entries = join(commonDir, "worktrees");
  // Expected: there are no worktrees, or one is removed meanwhile.
  for (const name of await readdir(entries).catch(() => [])) {
    const place = await readFile(join(entries, name, "gitdir"), "utf8").catch(() => "");
    if (place.trim() === join(top, ".git")) return join(entries, name);
  }
  return undefined;
}

/**
 * Makes sure that the folder of a worktree is still one of the repository. Files that git does not know any more are left
 * where they are: they may be work that is nowhere else.
 */
export async function reconnect(repository: WorktreeRepository, top: string): Promise<void> {
  const gitDir = await gitDirOf(repository, top);
  if (gitDir === undefined)
    throw new FlintError(
      "invalidRequest",
      `${top} is no longer a worktree of ${repository.top}. Move the folder away, and the task continues from its last commit.`,
    );
  const link = join(top, ".git");
  // Expected: it was deleted. Whatever else is there belongs to the agent and is not used.
  if ((await lstat(link).catch(() => undefined)) === undefined) await writeFile(link, `gitdir: ${gitDir}\n`);
}

/**
 * Makes the repository forget a worktree, also one whose `git worktree add` was killed, which prune does not touch. Only
 * entries of this folder are ours.
 */
export async function removeEntry(repository: WorktreeRepository, top: string): Promise<void> {
  for (;;) {
    const entry = await gitDirOf(repository, top);
    if (entry === undefined) break;
    await rm(entry, { recursive: true, force: true });
  }
  // Expected: there are others. Git removes the folder with the last one as well.
  await rmdir(join(repository.commonDir, "worktrees")).catch(() => undefined);
}

/** Keeps `git worktree prune` from a worktree, as `git worktree lock` does. */
export async function lockEntry(gitDir: string): Promise<void> {
  await writeFile(join(gitDir, "locked"), "in use by a Flint task", { flag: "wx" });
}

/**
 * Makes the index of a worktree that of a commit. In a sparse checkout, the files outside of it are left out of the folder:
 * git says which when it writes files, so it writes them into an empty folder beside it, without any filters.
 */
export async function readTree(
  git: GitCommand,
  { worktree, gitDir }: GitLocation,
  commit: string,
): Promise<void> {
  const sparse = await git.in({ worktree, gitDir }).attempt(["config", "--bool", "core.sparseCheckout"]);
  if (sparse.stdout.trim() !== "true") {
    await git.in({ worktree, gitDir }).run(["read-tree", commit]);
    return;
  }
  const empty = await mkdtemp(join(worktree, "..", "sparse-"));
  const apart = git.in({ worktree: empty, gitDir }).withoutFilters();
  await apart
    .run(["read-tree", "--reset", "-u", commit])
    .finally(() => rm(empty, { recursive: true, force: true }));
}
