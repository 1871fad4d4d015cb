import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { agentFolder } from "@flint/testkit";
import { CommandSandbox } from "../../sandbox/index.ts";
import type { Worktree } from "../attempt.ts";
import type { ProjectTrust } from "../included-files.ts";
import type { MergeRequest } from "../merge.ts";
import { type TurnCommit, TurnCommits } from "../turn-commit.ts";
import { taskRef } from "../worktree-repository.ts";
import { Worktrees } from "../worktrees.ts";

const run = promisify(execFile);
const WHO = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "protocol.file.allow=always"];

/** The sandbox of the tests' worktrees. */
export const SANDBOX = new CommandSandbox({ environment: process.env });
/** A user who trusts every file of the project, and what its repository makes git run. */
export const TRUSTED: ProjectTrust = { isTrusted: async () => true, gitVariables: async () => ({}) };
/** The attempt that tests work in. */
export const NAME = { task: "task-1", attempt: 1 };

/** A repository with one commit on main, and a private folder for worktrees. */
export async function setUpRepository() {
  const home = await agentFolder();
  const cwd = home.join("repo");
  const git = async (...args: string[]) => (await run("git", [...WHO, ...args], { cwd })).stdout.trim();
  await mkdir(cwd);
  await git("init", "-q", "-b", "main");
  await writeFile(join(cwd, "a.txt"), "one\n");
  await git("add", ".");
  await git("commit", "-q", "-m", "first");
  return { home, cwd, git, worktrees: new Worktrees(home.join("worktrees"), process.env, SANDBOX, TRUSTED) };
}

export type RepositoryFixture = Awaited<ReturnType<typeof setUpRepository>>;

/** Commits a file that a turn wrote to the worktree of the attempt. */
export async function commitWork(
  { worktrees, cwd }: Pick<RepositoryFixture, "worktrees" | "cwd">,
  content: string,
): Promise<{ worktree: Worktree; made: TurnCommit }> {
  const worktree = await worktrees.prepare({ ...NAME, cwd });
  await writeFile(join(worktree.top, "b.txt"), content);
  const commits = new TurnCommits(worktrees, SANDBOX);
  const request = { ...NAME, worktree, round: 1, fence: 1, parent: worktree.base, message: "round 1" };
  return { worktree, made: await commits.commit(request) };
}

/** The merge of what the attempt made into main. */
export function mergeOf(base: string, commit: string, change: Partial<MergeRequest> = {}): MergeRequest {
  return {
    ...{ mode: "squash", target: "main", base, commit, title: "Port it", message: "Port it\n" },
    ...{ record: taskRef(NAME.task, "a1", "merged", commit), verify: async () => true },
    ...change,
  };
}
