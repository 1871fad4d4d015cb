import { FlintError, type MergeMode } from "@flint/protocol";
import type { GitCommand } from "../git/git-command.ts";
import { OBJECT_ID } from "../git/repository.ts";
import { MergeRecord, type RecordedMerge } from "./merge-record.ts";
import { commitOf, FLINT_IDENTITY } from "./worktree-repository.ts";

/** The commits to merge, and the mode. */
export interface MergeRequest {
  readonly mode: Exclude<MergeMode, "none" | "pr">;
  /** The branch that the task started from; undefined if it started from a detached commit. */
  readonly target: string | undefined;
  /** The commit that the attempt started from, and the one that it ended with. */
  readonly base: string;
  readonly commit: string;
  readonly title: string;
  readonly message: string;
  /** The ref under which the merge of this commit is recorded. */
  readonly record: string;
  /** Checks the merged commit; the merge continues only if it passes. */
  verify(commit: string): Promise<boolean>;
}

/** A merge that is done. */
export interface Merged extends RecordedMerge {
  readonly kind: "merged";
  readonly note?: string;
  /** Set if an earlier run had done it, which may have opened a pull request as well. */
  readonly isRepeated?: true;
}

/** The outcome of a merge. */
export type MergeResult =
  | Merged
  | { readonly kind: "conflict"; readonly files: readonly string[]; readonly onto: string }
  | { readonly kind: "unverified" }
  | { readonly kind: "moved"; readonly target: string };

/** Maximum number of attempts to merge into a target that moves. */
const ATTEMPTS = 5;
const FULL = "refs/heads/";
/** Prefix of the branches that Flint makes. */
const OWN = "flint/";

/**
 * Merges in refs alone: no checkout is touched, and a branch that somebody has checked out is not moved. A result that was
 * merged before is not merged again.
 */
export async function mergeResult(git: GitCommand, request: MergeRequest): Promise<MergeResult> {
  const record = new MergeRecord(git, request.record);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const earlier = await record.find();
    if (earlier !== undefined) return { ...merged(request, earlier), isRepeated: true };
    const result = await mergeOnce(git, request, record);
    if (result !== undefined) return result;
  }
  return { kind: "moved", target: request.target ?? "The new branch" };
}

/** One try; undefined if a branch has changed meanwhile. */
async function mergeOnce(
  git: GitCommand,
  request: MergeRequest,
  record: MergeRecord,
): Promise<MergeResult | undefined> {
  const { mode, target, commit } = request;
  if (mode === "branch" || target === undefined) return createBranch(git, request, record, commit);
  const onto = await commitOf(git, `${FULL}${target}`);
  const combined = await combine(git, request, onto);
  if ("files" in combined) return { kind: "conflict", files: combined.files, onto };
  if (!(await request.verify(combined.commit))) return { kind: "unverified" };
  if (await isCheckedOut(git, target)) return createBranch(git, request, record, combined.commit);
  const ref = `${FULL}${target}`;
  const isMoved = await record.move(ref, combined.commit, onto);
  return isMoved ? merged(request, { ref, commit: combined.commit }) : undefined;
}

async function createBranch(
  git: GitCommand,
  request: MergeRequest,
  record: MergeRecord,
  commit: string,
): Promise<Merged | undefined> {
  const ref = `${FULL}${await freeBranch(git, request.title)}`;
  const isCreated = await record.move(ref, commit, "0".repeat(commit.length));
  return isCreated ? merged(request, { ref, commit }) : undefined;
}

function merged({ mode, target }: MergeRequest, { ref, commit }: RecordedMerge): Merged {
  const done = { kind: "merged", ref, commit } as const;
  const isNew = ref.startsWith(`${FULL}${OWN}`) && ref !== `${FULL}${target}`;
  if (mode === "branch" || target === undefined || !isNew) return done;
  const branch = ref.slice(FULL.length);
  const note = `${target} is checked out, so it was not moved. Update it with: git merge --ff-only ${branch}`;
  return { ...done, note };
}

type Combined = { readonly commit: string } | { readonly files: readonly string[] };
type MergedTree = { readonly tree: string } | { readonly files: readonly string[] };

/** The commit that the target would become, or the files that conflict. */
async function combine(git: GitCommand, request: MergeRequest, onto: string): Promise<Combined> {
  const { mode, base, commit, message } = request;
  if (mode === "rebase") return onto === base ? { commit } : replay(git, base, commit, onto);
  const joined = await mergeTree(git, onto, commit);
  if ("files" in joined) return joined;
  return { commit: await write(git, joined.tree, mode === "merge" ? [onto, commit] : [onto], message) };
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
    const joined = await mergeTree(git, ours, each);
    if ("files" in joined) return joined;
    const [name = "", email = "", date = "", ...message] = (await git.run([...AUTHORED, each])).split("\n");
    const author = { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date };
    head = await write(git, joined.tree, [head], message.join("\n"), author);
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
  const [treeId = "", ...parentIds] = await idsOf(git, [tree, ...parents]);
  const args = ["commit-tree", treeId, ...parentIds.flatMap((id) => ["-p", id]), "-F", "-"];
  const named = await git.with(author).attempt(args, message);
  if (named.exitCode === 0) return named.stdout.trim();
  const writer = git.with({ ...FLINT_IDENTITY, ...author });
  return (await writer.run(args, message)).trim();
}

/** The ids of objects; git is only asked for those that are not ids already. */
async function idsOf(git: GitCommand, names: readonly string[]): Promise<readonly string[]> {
  if (names.every((name) => OBJECT_ID.test(name))) return names;
  return (await git.run(["rev-parse", ...names])).trim().split("\n");
}

/** A branch name from a title that no branch has yet. */
async function freeBranch(git: GitCommand, title: string): Promise<string> {
  const words = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  const name = `${OWN}${words.slice(0, 50).replace(/-+$/, "") || "task"}`;
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
