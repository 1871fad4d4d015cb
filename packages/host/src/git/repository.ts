import { lstat, readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { GitCommand } from "./git-command.ts";

/** An object id: SHA-1 or SHA-256. */
export const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** The refs that agents may change in the user's repository. */
export const REF_NAMESPACES = ["refs/heads", "refs/tags", "refs/remotes", "refs/stash"] as const;

/** Where a repository keeps what. All paths are free of links. */
export interface Repository {
  /** The folder with the files. */
  readonly worktree: string;
  /** The git directory of this worktree. */
  readonly gitDir: string;
  /** The git directory that all its worktrees share. */
  readonly commonDir: string;
  /** Whether `.git` in the worktree is a file that points elsewhere, as in a linked worktree or a submodule. */
  readonly isLinked: boolean;
}

/** What a repository looks like at one moment. */
export interface RepositoryState {
  /** The refs that agents may change, by name. */
  readonly refs: ReadonlyMap<string, string>;
  /** Refs that are names for other refs. */
  readonly symbolicRefs: ReadonlyMap<string, string>;
  readonly head: Head;
  /** Changes whenever the index does; undefined without an index. */
  readonly indexVersion: string | undefined;
}

/** What HEAD names: a branch, which may not have a commit yet, or a commit. */
export type Head =
  | { readonly kind: "branch"; readonly ref: string }
  | { readonly kind: "detached"; readonly commit: string };

/** Finds the repository whose worktree is exactly this folder; undefined if there is none. */
export async function findRepository(git: GitCommand, folder: string): Promise<Repository | undefined> {
  const worktree = await realpath(folder);
  const dotGit = await lstat(join(worktree, ".git")).catch(() => undefined);
  // A link could lead anywhere by the time it is used.
  if (dotGit === undefined || !(dotGit.isDirectory() || dotGit.isFile())) return undefined;
  const asked = ["rev-parse", "--absolute-git-dir", "--git-common-dir"];
  const { exitCode, stdout } = await git.attempt(asked);
  const [gitDir = "", common = ""] = stdout.split("\n");
  if (exitCode !== 0 || gitDir === "" || common === "") return undefined;
  const commonDir = await realpath(resolve(worktree, common));
  return { worktree, gitDir: await realpath(gitDir), commonDir, isLinked: dotGit.isFile() };
}

/** Reads the state of the user's repository. */
export async function readState(git: GitCommand, { gitDir }: Repository): Promise<RepositoryState> {
  const format = "--format=%(objectname) %(refname) %(symref)";
  const listed = await git.run(["for-each-ref", format, ...REF_NAMESPACES]);
  const refs = new Map<string, string>();
  const symbolicRefs = new Map<string, string>();
  for (const line of listed.split("\n").filter((row) => row !== "")) {
    const [object = "", name = "", target = ""] = line.split(" ");
    if (target === "") refs.set(name, object);
    else symbolicRefs.set(name, target);
  }
  return { refs, symbolicRefs, head: await readHead(git), indexVersion: await indexVersion(gitDir) };
}

async function readHead(git: GitCommand): Promise<Head> {
  const symbolic = await git.attempt(["symbolic-ref", "-q", "HEAD"]);
  if (symbolic.exitCode === 0) return { kind: "branch", ref: symbolic.stdout.trim() };
  return { kind: "detached", commit: (await git.run(["rev-parse", "--verify", "HEAD^{commit}"])).trim() };
}

/** An index ends with a checksum of its content. */
async function indexVersion(gitDir: string): Promise<string | undefined> {
  const content = await readFile(join(gitDir, "index")).catch(() => undefined);
  return content?.subarray(-32).toString("hex");
}

/** What keeps a repository from being changed from outside: an operation that the user has not finished. */
export async function unfinishedOperation({ gitDir }: Repository): Promise<string | undefined> {
  for (const [file, operation] of Object.entries(OPERATION_FILES)) {
    if ((await lstat(join(gitDir, file)).catch(() => undefined)) !== undefined) return operation;
  }
  return undefined;
}

/** The files by which git remembers an operation that is not finished. */
export const OPERATION_FILES: Readonly<Record<string, string>> = {
  MERGE_HEAD: "merge",
  CHERRY_PICK_HEAD: "cherry-pick",
  REVERT_HEAD: "revert",
  "rebase-merge": "rebase",
  "rebase-apply": "rebase",
  BISECT_LOG: "bisect",
};
