import { FlintError, type MergeMode } from "@flint/protocol";
import type { GitCommand } from "../git/git-command.ts";
import { commitOf, FLINT_IDENTITY } from "./worktree-repository.ts";

/** What is merged, and how. */
export interface MergeRequest {
  readonly mode: Exclude<MergeMode, "none" | "pr">;
  /** The branch that the task started from; undefined if it started from a detached commit. */
  readonly target: string | undefined;
  /** The commit that the attempt started from, and the one that it ended with. */
  readonly base: string;
  readonly commit: string;
  readonly title: string;
  readonly message: string;
  /** Checks the merged commit; the merge goes on only if it passes. */
  verify(commit: string): Promise<boolean>;
}

/** How a merge ended. */
export type MergeResult =
  | { readonly kind: "merged"; readonly ref: string; readonly commit: string; readonly note?: string }
  | { readonly kind: "conflict"; readonly files: readonly string[]; readonly onto: string }
  | { readonly kind: "unverified" }
  | { readonly kind: "moved"; readonly target: string };

/** How often a target that moves is merged again. */
const ATTEMPTS = 5;
const FULL = "refs/heads/";

/** Merges in refs alone: no checkout is touched, and a branch that somebody has checked out is not moved. */
export async function mergeResult(git: GitCommand, request: MergeRequest): Promise<MergeResult> {
  const { mode, target, commit } = request;
  const branch = await freeBranch(git, request.title);
  if (mode === "branch" || target === undefined) return createBranch(git, branch, commit);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const onto = await commitOf(git, `${FULL}${target}`);
    const merged = await combine(git, request, onto);
    if ("files" in merged) return { kind: "conflict", files: merged.files, onto };
    if (!(await request.verify(merged.commit))) return { kind: "unverified" };
    if (await isCheckedOut(git, target)) {
      const note = `${target} is checked out, so it was not moved. Update it with: git merge --ff-only ${branch}`;
      return { ...(await createBranch(git, branch, merged.commit)), note };
    }
    const moved = await git.attempt(["update-ref", "--no-deref", `${FULL}${target}`, merged.commit, onto]);
    if (moved.exitCode === 0) return { kind: "merged", ref: `${FULL}${target}`, commit: merged.commit };
  }
  return { kind: "moved", target };
}

type Combined = { readonly commit: string } | { readonly files: readonly string[] };
type MergedTree = { readonly tree: string } | { readonly files: readonly string[] };

/** The commit that the target would become, or the files that conflict. */
async function combine(git: GitCommand, request: MergeRequest, onto: string): Promise<Combined> {
  const { mode, base, commit, message } = request;
  if (mode === "rebase") return onto === base ? { commit } : replay(git, base, commit, onto);
  const merged = await mergeTree(git, onto, commit);
  if ("files" in merged) return merged;
  return { commit: await write(git, merged.tree, mode === "merge" ? [onto, commit] : [onto], message) };
}

/** The author and the message of a commit. */
const AUTHORED = ["log", "-1", "--format=%an%n%ae%n%aI%n%B"];

/** Each commit of the task on top of the target, without a work tree. */
async function replay(git: GitCommand, base: string, commit: string, onto: string): Promise<Combined> {
  const commits = await git.run(["rev-list", "--reverse", "--first-parent", `${base}..${commit}`]);
  let head = onto;
  for (const each of commits.split("\n").filter((id) => id !== "")) {
    // The target as if it had been made on the parent, so that only this one commit is merged.
    const ours = await write(git, `${head}^{tree}`, [`${each}^`], "onto");
    const merged = await mergeTree(git, ours, each);
    if ("files" in merged) return merged;
    const [name = "", email = "", date = "", ...message] = (await git.run([...AUTHORED, each])).split("\n");
    const author = { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date };
    head = await write(git, merged.tree, [head], message.join("\n"), author);
  }
  return { commit: head };
}

async function mergeTree(git: GitCommand, ours: string, theirs: string): Promise<MergedTree> {
  const args = ["merge-tree", "--write-tree", "--name-only", "--no-messages", ours, theirs];
  const { exitCode, stdout, stderr } = await git.attempt(args);
  const [tree = "", ...files] = stdout.trimEnd().split("\n");
  if (exitCode === 0) return { tree };
  if (exitCode === 1) return { files: files.filter((file) => file !== "") };
  throw new FlintError("internalError", `git merge-tree failed (${exitCode}): ${stderr.slice(0, 500)}`);
}

/** Writes a commit in the user's name, or in Flint's if git knows none. */
async function write(
  git: GitCommand,
  tree: string,
  parents: readonly string[],
  message: string,
  author: Readonly<Record<string, string>> = {},
): Promise<string> {
  const ids = await git.run(["rev-parse", tree, ...parents]);
  const [treeId = "", ...parentIds] = ids.trim().split("\n");
  const args = ["commit-tree", treeId, ...parentIds.flatMap((id) => ["-p", id]), "-F", "-"];
  const named = await git.attempt(["var", "GIT_COMMITTER_IDENT"]);
  const writer = git.with({ ...(named.exitCode === 0 ? {} : FLINT_IDENTITY), ...author });
  return (await writer.run(args, message)).trim();
}

async function createBranch(git: GitCommand, branch: string, commit: string) {
  await git.run(["update-ref", "--no-deref", `${FULL}${branch}`, commit, "0".repeat(commit.length)]);
  return { kind: "merged", ref: `${FULL}${branch}`, commit } as const;
}

/** A branch name from a title that no branch has yet. */
async function freeBranch(git: GitCommand, title: string): Promise<string> {
  const words = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  const name = `flint/${words.slice(0, 50).replace(/-+$/, "") || "task"}`;
  for (let suffix = 1; ; suffix += 1) {
    const candidate = suffix === 1 ? name : `${name}-${suffix}`;
    const known = await git.attempt(["rev-parse", "--verify", "--quiet", `${FULL}${candidate}`]);
    if (known.exitCode !== 0) return candidate;
  }
}

async function isCheckedOut(git: GitCommand, branch: string): Promise<boolean> {
  const listed = await git.run(["worktree", "list", "--porcelain"]);
  return listed.split("\n").includes(`branch ${FULL}${branch}`);
}
