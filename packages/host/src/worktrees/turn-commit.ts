import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Sandbox } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import type { GitCommand } from "../git/git-command.ts";
import { copyLfsObjects } from "../git/lfs.ts";
import type { LocatedAttempt, Worktree, WorktreeName } from "./attempt.ts";
import { fetchRef, push } from "./shared-remote.ts";
import {
  commitOf,
  createRef,
  FLINT_IDENTITY,
  gitFoldersOf,
  readRef,
  taskRef,
  type WorktreeRepository,
} from "./worktree-repository.ts";
import type { Worktrees } from "./worktrees.ts";

/** The work that a turn left behind. */
export interface TurnCommit {
  readonly commit: string;
  readonly tree: string;
  /** True if the tree differs from that of the commit before. */
  readonly changed: boolean;
}

/** The work to commit, and the name to commit it under. */
export interface TurnCommitRequest extends WorktreeName {
  readonly worktree: Worktree;
  readonly round: number;
  /** The fence of the run: a run that was lost cannot take the name of a later one. */
  readonly fence: number;
  readonly parent: string;
  readonly message: string;
  /** The remote that other machines get the work from. */
  readonly url?: string | undefined;
  /** The ref that keeps the agent's own commits of the turn, if it made some. */
  readonly own?: string | undefined;
}

/**
 * Writes the tree of everything in the folder. Runs in the sandbox, because filters of the repository run with it, with an
 * index and an object directory of its own: the repository is only read.
 */
const WRITE_TREE = [
  "set -e",
  // Any of them may run filters: git looks again at files that have just changed.
  'own() { git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.safecrlf=false -c lfs.storage="$lfs" "$@"; }',
  'lfs="$2"',
  // A sparse checkout keeps what is not in the folder: its own index says which files those are.
  'if [ "$(own config --bool core.sparseCheckout)" = true ]; then sparse=--sparse; fi',
  'if [ ! -f "$GIT_INDEX_FILE" ] && [ -n "$sparse" ]; then cp "$(own rev-parse --absolute-git-dir)/index" "$GIT_INDEX_FILE"; fi',
  'if [ ! -f "$GIT_INDEX_FILE" ]; then own read-tree "$1"; fi',
  "own add -A $sparse -- .",
  "own write-tree",
].join("\n");

const OBJECT = /^[0-9a-f]{40,64}$/;
const TEN_MINUTES = 600_000;

/**
 * Keeps what a turn made under a ref of the task: the agent's own commits, and one more for what it left uncommitted. The
 * agent cannot reach the repository.
 */
export class TurnCommits {
  readonly #worktrees: Worktrees;
  readonly #sandbox: Pick<Sandbox, "launch">;

  constructor(worktrees: Worktrees, sandbox: Pick<Sandbox, "launch">) {
    this.#worktrees = worktrees;
    this.#sandbox = sandbox;
  }

  async commit(request: TurnCommitRequest): Promise<TurnCommit> {
    const { worktree, parent, task, attempt, round, fence } = request;
    const git = this.#worktrees.git(worktree.repository.top);
    const [tree, before] = await Promise.all([this.#writeTree(request), treeOf(git, parent)]);
    if (tree === before) return { commit: parent, tree, changed: false };
    const own = (await this.#ownCommit(git, request)) ?? (await this.#earlierCommit(git, request));
    const commit =
      own !== undefined && tree === (await treeOf(git, own))
        ? own
        : await this.#commitTree(request, tree, own ?? parent);
    const ref = taskRef(task, `a${attempt}`, `r${round}`, fence);
    await this.#keepLfsObjects(request);
    if (!(await createRef(git, ref, commit)))
      throw new FlintError("invalidRequest", `Another run has committed round ${round} of the task.`);
    await this.#worktrees.moveHead(worktree, commit);
    if (request.url !== undefined) await push(git, request.url, commit, ref);
    return { commit, tree, changed: true };
  }

  /** The commit of a round that a run made under this fence, here or at the remote; undefined if it made none. */
  async find(
    { top }: WorktreeRepository,
    request: Omit<TurnCommitRequest, "worktree" | "message" | "own">,
  ): Promise<TurnCommit | undefined> {
    const { task, attempt, round, fence, parent, url } = request;
    const git = this.#worktrees.git(top);
    const name = [`a${attempt}`, `r${round}`, fence] as const;
    const found =
      (await readRef(git, taskRef(task, ...name))) ??
      (url === undefined ? undefined : await fetchRef(git, url, task, name.join("/")));
    // It counts only if it continues what was accepted before.
    const commit = found === undefined ? undefined : await following(git, found, parent);
    if (commit === undefined) return undefined;
    const [tree, before] = await Promise.all([treeOf(git, commit), treeOf(git, parent)]);
    return tree === before ? undefined : { commit, tree, changed: true };
  }

  /**
   * Reports whether all files in the folder of an attempt are in a commit of its task, ignored ones aside.
   */
  async isCommitted({ task, attempt }: WorktreeName, located: LocatedAttempt): Promise<boolean> {
    const top = await this.#worktrees.topOf({ task, attempt });
    if (top === undefined) return true;
    const worktree = { ...located, top, folder: top };
    const tree = await this.#writeTree({ task, attempt, worktree, parent: located.base });
    const git = this.#worktrees.git(located.repository.top);
    const trees = await git.run(["for-each-ref", "--format=%(tree)", `${taskRef(task)}/`]);
    return trees.split("\n").includes(tree);
  }

  /** The last commit that the agent made itself. If it does not continue what was there, the tree alone counts. */
  async #ownCommit(git: GitCommand, { own, parent }: TurnCommitRequest): Promise<string | undefined> {
    if (own === undefined) return undefined;
    const kept = await git.attempt(["show-ref", "--verify", "--hash", own]);
    return kept.exitCode === 0 ? following(git, await commitOf(git, kept.stdout.trim()), parent) : undefined;
  }

  /** Returns the commit of an earlier run of the same round that was lost before it could report it. */
  async #earlierCommit(
    git: GitCommand,
    { worktree, parent }: TurnCommitRequest,
  ): Promise<string | undefined> {
    const head = await this.#worktrees.head(worktree);
    return head === undefined ? undefined : following(git, head, parent);
  }

  async #commitTree(request: TurnCommitRequest, tree: string, parent: string): Promise<string> {
    await this.#import(request, tree, parent);
    const git = this.#worktrees.git(request.worktree.repository.top).with(FLINT_IDENTITY);
    return (await git.run(["commit-tree", tree, "-p", parent, "-F", "-"], request.message)).trim();
  }

  async #writeTree(request: WorktreeName & Pick<TurnCommitRequest, "worktree" | "parent">): Promise<string> {
    const { worktree, parent } = request;
    const scratch = await this.#worktrees.scratch(request);
    await mkdir(join(scratch, "objects"), { recursive: true, mode: 0o700 });
    let stdout = "";
    let stderr = "";
    const { exitCode } = await this.#sandbox.launch({
      command: ["/bin/sh", "-c", WRITE_TREE, "sh", parent, join(scratch, "lfs")],
      cwd: worktree.top,
      workspace: worktree.top,
      policy: { type: "workspaceWrite", writableRoots: [scratch] },
      readOnlyPaths: await gitFoldersOf(worktree.repository),
      environment: {
        ...(await this.#worktrees.variables(worktree.repository)),
        GIT_INDEX_FILE: join(scratch, "index"),
        GIT_OBJECT_DIRECTORY: join(scratch, "objects"),
        GIT_ALTERNATE_OBJECT_DIRECTORIES: join(worktree.repository.commonDir, "objects"),
      },
      timeoutMs: TEN_MINUTES,
      onOutput: (text, stream) => {
        if (stream === "stdout") stdout = `${stdout}${text}`.slice(-1000);
        else stderr = `${stderr}${text}`.slice(-2000);
      },
    });
    const tree = stdout.trim().split("\n").at(-1) ?? "";
    if (exitCode === 0 && OBJECT.test(tree)) return tree;
    throw new FlintError(
      "internalError",
      `The work could not be committed: ${stderr.trim() || `exit ${exitCode}`}`,
    );
  }

  /** Takes over what the filter of Git LFS has stored in the sandbox; each object is checked by its name. */
  async #keepLfsObjects(request: TurnCommitRequest): Promise<void> {
    const scratch = await this.#worktrees.scratch(request);
    const skipped = await copyLfsObjects(scratch, request.worktree.repository.commonDir);
    await rm(join(scratch, "lfs"), { recursive: true, force: true });
    if (skipped === 0) return;
    const message = `The work could not be committed: ${skipped} objects of Git LFS are too large, too many or not what they are named.`;
    throw new FlintError("internalError", message);
  }

  /** Brings the objects of a tree into the repository, as from a stranger: each is checked. */
  async #import(request: TurnCommitRequest, tree: string, parent: string): Promise<void> {
    const { worktree } = request;
    const scratch = await this.#worktrees.scratch(request);
    const git = this.#worktrees.git(worktree.repository.top);
    const lent = git.with({ GIT_ALTERNATE_OBJECT_DIRECTORIES: join(scratch, "objects") });
    // Beside the folder that filters can write, where one could have put a link to a file of the user.
    const folder = await mkdtemp(join(scratch, "..", "incoming-"));
    const pack = join(folder, "pack");
    // Through the output: git itself would first write it in the repository, which may be on another disk.
    try {
      const requested = `${tree}\n--not\n${parent}\n`;
      await lent.runToFile(["pack-objects", "-q", "--revs", "--stdout"], pack, requested);
      await git.runWithFile(["unpack-objects", "-q", "--strict"], pack);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

async function treeOf(git: GitCommand, commit: string): Promise<string> {
  return (await git.run(["rev-parse", `${commit}^{tree}`])).trim();
}

/** The commit, if it continues another one. */
async function following(git: GitCommand, commit: string, parent: string): Promise<string | undefined> {
  if (commit === parent) return undefined;
  const follows = await git.attempt(["merge-base", "--is-ancestor", parent, commit]);
  return follows.exitCode === 0 ? commit : undefined;
}
