import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Sandbox } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import { createRef, FLINT_IDENTITY, taskRef } from "./worktree-repository.ts";
import type { Worktree, WorktreeName, Worktrees } from "./worktrees.ts";

/** What a turn left behind. */
export interface TurnCommit {
  readonly commit: string;
  readonly tree: string;
  /** Whether the tree differs from that of the commit before. */
  readonly changed: boolean;
}

/** What is committed, and under which name. */
export interface TurnCommitRequest extends WorktreeName {
  readonly worktree: Worktree;
  readonly round: number;
  /** The fence of the run: a run that was lost cannot take the name of a later one. */
  readonly fence: number;
  readonly parent: string;
  readonly message: string;
}

/**
 * Writes the tree of everything in the folder. Runs in the sandbox, because filters of the repository run with it, with an
 * index and an object directory of its own: the repository is only read.
 */
const WRITE_TREE = [
  "set -e",
  'if [ ! -f "$GIT_INDEX_FILE" ]; then git read-tree "$1"; fi',
  "git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.safecrlf=false add -A -- .",
  "git write-tree",
].join("\n");

const OBJECT = /^[0-9a-f]{40,64}$/;
const TEN_MINUTES = 600_000;

/** Commits everything that a turn left in its folder, under a ref of the task. The agent cannot reach the repository. */
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
    const tree = await this.#writeTree(request);
    const parentTree = (await git.run(["rev-parse", `${parent}^{tree}`])).trim();
    if (tree === parentTree) return { commit: parent, tree, changed: false };
    await this.#import(request, tree, parent);
    const written = await git
      .with(FLINT_IDENTITY)
      .run(["commit-tree", tree, "-p", parent, "-F", "-"], request.message);
    const commit = written.trim();
    const ref = taskRef(task, `a${attempt}`, `r${round}`, fence);
    if (!(await createRef(git, ref, commit)))
      throw new FlintError("invalidRequest", `Another run has committed round ${round} of the task.`);
    return { commit, tree, changed: true };
  }

  async #writeTree(request: TurnCommitRequest): Promise<string> {
    const { worktree, parent } = request;
    const scratch = await this.#worktrees.scratch(request);
    await mkdir(join(scratch, "objects"), { recursive: true, mode: 0o700 });
    let stdout = "";
    let stderr = "";
    const { exitCode } = await this.#sandbox.launch({
      command: ["/bin/sh", "-c", WRITE_TREE, "sh", parent],
      cwd: worktree.top,
      workspace: worktree.top,
      policy: { type: "workspaceWrite", writableRoots: [scratch] },
      environment: {
        GIT_INDEX_FILE: join(scratch, "index"),
        GIT_OBJECT_DIRECTORY: join(scratch, "objects"),
        GIT_ALTERNATE_OBJECT_DIRECTORIES: join(worktree.repository.commonDir, "objects"),
        GIT_LFS_SKIP_SMUDGE: "1",
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

  /** Brings the objects of a tree into the repository, as from a stranger: each is checked. */
  async #import(request: TurnCommitRequest, tree: string, parent: string): Promise<void> {
    const { worktree } = request;
    const scratch = await this.#worktrees.scratch(request);
    const git = this.#worktrees.git(worktree.repository.top);
    const lent = git.with({ GIT_ALTERNATE_OBJECT_DIRECTORIES: join(scratch, "objects") });
    const objects = await lent.run(["rev-list", "--objects", tree, "--not", parent]);
    const ids = objects.split("\n").map((line) => line.split(" ")[0] ?? "");
    const pack = join(scratch, "incoming");
    const name = await lent.run(["pack-objects", "-q", pack], ids.join("\n"));
    const file = `${pack}-${name.trim()}`;
    await git.runWithFile(["unpack-objects", "-q", "--strict"], `${file}.pack`);
    await Promise.all([".pack", ".idx"].map((extension) => rm(`${file}${extension}`, { force: true })));
  }
}
