import { realpath } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";
import { FlintError } from "@flint/protocol";
import { GitCommand } from "../git/git-command.ts";
import { alternatesOf, isPlainRepository } from "../git/repository.ts";

/** A repository that attempts are made from. */
export interface WorktreeRepository {
  /** The top folder of the user's checkout. */
  readonly top: string;
  /** The git directory that all worktrees of the repository share. */
  readonly commonDir: string;
  /** The folder of the checkout in which the task works, relative to its top; empty at the top itself. */
  readonly subfolder: string;
  /** Set if the folder is in no repository, and this one holds a copy of it. */
  readonly isCopy?: boolean | undefined;
}

/** The repository that a folder is in; undefined if it is in none. */
export async function repositoryAt(
  folder: string,
  environment: NodeJS.ProcessEnv,
): Promise<WorktreeRepository | undefined> {
  // Expected: it does not exist, which git says as well.
  const real = await realpath(folder).catch(() => folder);
  if (await isPlainRepository(real)) return { top: real, commonDir: join(real, ".git"), subfolder: "" };
  const git = new GitCommand(folder, environment);
  const found = await git.attempt(["rev-parse", "--show-toplevel", "--git-common-dir"]);
  if (found.exitCode !== 0) return undefined;
  const [top = "", common = ""] = found.stdout.trimEnd().split("\n");
  const commonDir = await realpath(isAbsolute(common) ? common : join(folder, common));
  return { top, commonDir, subfolder: relative(top, await realpath(folder)) };
}

/**
 * Returns the paths that git reads of a repository besides the worktree. A sandbox that covers /tmp has to
 * show them, if they are there.
 */
export async function gitFoldersOf({ commonDir }: WorktreeRepository): Promise<string[]> {
  return [commonDir, ...(await alternatesOf(join(commonDir, "objects")))];
}

/** The commit that a name stands for now. */
export async function commitOf(git: GitCommand, name: string): Promise<string> {
  const found = await git.attempt([
    "rev-parse",
    "--verify",
    "--quiet",
    "--end-of-options",
    `${name}^{commit}`,
  ]);
  if (found.exitCode === 0) return found.stdout.trim();
  const what = name === "HEAD" ? "The repository has no commit yet" : `There is no commit ${name}`;
  throw new FlintError("invalidParams", `${what}: a task needs one to start from.`);
}

/** The name of the refs that keep what a task made, out of sight of `git branch` and of a plain push. */
export function taskRef(task: string, ...rest: readonly (string | number)[]): string {
  return ["refs/flint/tasks", task, ...rest].join("/");
}

/** Creates a ref; true if it is there with this value already. A different value is never replaced. */
export async function createRef(git: GitCommand, ref: string, commit: string): Promise<boolean> {
  const created = await git.attempt(["update-ref", "--no-deref", ref, commit, "0".repeat(commit.length)]);
  if (created.exitCode === 0) return true;
  const present = await git.attempt(["rev-parse", "--verify", "--quiet", ref]);
  return present.stdout.trim() === commit;
}

/** The commit that a ref names; undefined if there is no such ref. */
export async function readRef(git: GitCommand, ref: string): Promise<string | undefined> {
  const found = await git.attempt([
    "rev-parse",
    "--verify",
    "--quiet",
    "--end-of-options",
    `${ref}^{commit}`,
  ]);
  return found.exitCode === 0 ? found.stdout.trim() : undefined;
}

/** The author of commits of what agents left. */
export const FLINT_IDENTITY = {
  GIT_AUTHOR_NAME: "Flint",
  GIT_AUTHOR_EMAIL: "flint@localhost",
  GIT_COMMITTER_NAME: "Flint",
  GIT_COMMITTER_EMAIL: "flint@localhost",
} as const;
