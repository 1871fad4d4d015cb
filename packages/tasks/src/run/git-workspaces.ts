import { writeFile } from "node:fs/promises";
import {
  baseRef,
  changedLines,
  commitOf,
  declinedRef,
  forgetShared,
  isChanged,
  type LocatedAttempt,
  mergeResult,
  ProtectedCommits,
  type PullRequest,
  push,
  remotesOf,
  shareRepository,
  type TurnCommits,
  taskRef,
  type Worktree,
  type WorktreeRequest,
  type Worktrees,
} from "@flint/host/worktrees";
import {
  currentRound,
  errorMessage,
  type Finding,
  mergeModeOf,
  type TaskSpec,
  type TaskState,
} from "@flint/protocol";
import type { MergeOutcome, PrepareOutcome } from "../decide/outcomes.ts";
import type { CommittedWork, ExecutorCommits, TaskWorkspaces } from "./task-workspaces.ts";

/** Maximum length of a diff for a reviewer. */
const MAX_DIFF = 400_000;

/** Returns this machine's clone of a task's repository, and the address under which it reaches the remote. */
export type CloneOf = (spec: TaskSpec) => { readonly cwd: string; readonly url?: string | undefined };

const ownClone: CloneOf = ({ cwd, remote }) => ({ cwd, url: remote?.url });

/** Attempts as worktrees of the user's repository, their work as commits under `refs/flint/`. */
export class GitWorkspaces implements TaskWorkspaces {
  readonly #worktrees: Worktrees;
  readonly #commits: TurnCommits;
  readonly #openRequest: (request: PullRequest) => Promise<string>;
  readonly #cloneOf: CloneOf;

  constructor(
    worktrees: Worktrees,
    commits: TurnCommits,
    openPullRequest: (request: PullRequest) => Promise<string>,
    cloneOf: CloneOf = ownClone,
  ) {
    this.#cloneOf = cloneOf;
    this.#worktrees = worktrees;
    this.#commits = commits;
    this.#openRequest = openPullRequest;
  }

  async share(spec: TaskSpec): Promise<TaskSpec> {
    if (spec.remote === undefined) return spec;
    const repository = await this.#worktrees.repository(spec.cwd);
    const git = this.#worktrees.git(repository.top);
    const commit = await commitOf(git, spec.base ?? "HEAD");
    return { ...spec, remote: await shareRepository(git, repository, spec.remote.url, commit) };
  }

  async remotes(folder: string): Promise<readonly string[]> {
    // Expected: there is no such folder or no repository; preparing the attempt says so.
    try {
      const { top } = await this.#worktrees.repository(folder);
      return await remotesOf(this.#worktrees.git(top), top);
    } catch {
      return [];
    }
  }

  async prepare(state: TaskState): Promise<PrepareOutcome> {
    // Expected: no repository, no such commit, no space; the task says so instead of working elsewhere.
    try {
      const { base, folder, repository } = await this.#worktree(state);
      const { url } = this.#cloneOf(state.spec);
      // A remote that cannot be written is reported before an agent works, and not after.
      if (url !== undefined)
        await push(this.#worktrees.git(repository.top), url, base, baseRef(nameOf(state)));
      const name = nameOf(state);
      const [included, notices] = [await this.#worktrees.included(name), await this.#worktrees.notices(name)];
      return { kind: "prepared", base, folder, included, notices };
    } catch (thrown) {
      return { kind: "unable", mayPass: false, message: errorMessage(thrown) };
    }
  }

  isSetUp(state: TaskState): Promise<boolean> {
    return this.#worktrees.isSetUp(nameOf(state));
  }

  markSetUp(state: TaskState): Promise<void> {
    return this.#worktrees.markSetUp(nameOf(state));
  }

  async commit(state: TaskState, round: number, commits?: ExecutorCommits): Promise<CommittedWork> {
    const worktree = await this.#worktree(state);
    const parent = lastCommit(state, round) ?? state.from ?? worktree.base;
    const { id: task, attempt, fence } = state;
    const message = `${state.spec.title}\n\nTask ${state.number}, attempt ${attempt}, round ${round}.\n`;
    const { url } = this.#cloneOf(state.spec);
    const own = commits === undefined ? undefined : declinedRef(commits.threadId, commits.name);
    const request = { task, attempt, worktree, round, fence, parent, message, own, url };
    return this.#withProtected(await this.#commits.commit(request), worktree);
  }

  async committed(state: TaskState, round: number, fence: number): Promise<CommittedWork | undefined> {
    const located = await this.locate(state);
    const parent = lastCommit(state, round) ?? state.from ?? located.base;
    const { url } = this.#cloneOf(state.spec);
    const found = await this.#commits.find(located.repository, {
      ...nameOf(state),
      round,
      fence,
      parent,
      url,
    });
    if (found === undefined) return undefined;
    await this.#worktrees.prepare({ ...this.#requestOf(state), from: found.commit });
    return this.#withProtected(found, located);
  }

  async #withProtected(
    work: CommittedWork & { readonly commit: string },
    { base, repository }: LocatedAttempt,
  ): Promise<CommittedWork> {
    const { top } = repository;
    const protectedPaths = await new ProtectedCommits(this.#worktrees.git(top), top).pathsOf(
      work.commit,
      base,
    );
    return protectedPaths.length === 0 ? work : { ...work, protectedPaths };
  }

  async reviewFolder(state: TaskState, commit: string): Promise<string> {
    const { repository } = await this.locate(state);
    return this.#worktrees.checkOut(nameOf(state), "review", repository, commit);
  }

  async onChangedLines(state: TaskState, findings: readonly Finding[]): Promise<ReadonlySet<number>> {
    const { base, repository } = await this.locate(state);
    const round = currentRound(state);
    if (typeof round?.commit !== "string") return new Set();
    const before = lastCommit(state, round.round) ?? state.from ?? base;
    const lines = changedLines(await this.#diff(repository.top, before, round.commit, ["-U0"]));
    return new Set(
      findings.flatMap(({ file, line }, index) => (isChanged(lines, file, line) ? [index] : [])),
    );
  }

  async diff(state: TaskState): Promise<string> {
    const { base, repository } = await this.locate(state);
    const commit = state.result?.commit ?? lastCommit(state, Number.POSITIVE_INFINITY);
    if (typeof commit !== "string" || commit === base) return "";
    const diff = await this.#diff(repository.top, base, commit);
    return diff.length <= MAX_DIFF
      ? diff
      : `${diff.slice(0, MAX_DIFF)}\n[${diff.length - MAX_DIFF} more characters]\n`;
  }

  async merge(state: TaskState, verify: (folder: string) => Promise<boolean>): Promise<MergeOutcome> {
    const { spec, result, mergeAs } = state;
    const mode = mergeModeOf(state);
    const worktree = await this.locate(state);
    const git = this.#worktrees.git(worktree.repository.top);
    if (typeof result?.commit !== "string")
      return { kind: "unable", message: "There is no commit to merge.", mayPass: false };
    if (worktree.repository.isCopy === true) return this.#writePatch(state, worktree, result.commit);
    if (mode === "none") return { kind: "unable", message: "The task merges nothing.", mayPass: false };
    const target = await this.#target(state, worktree);
    const merged = await mergeResult(git, {
      mode: mode === "pr" ? "branch" : mode,
      target,
      base: worktree.base,
      commit: result.commit,
      title: spec.title,
      message: `${spec.title}\n`,
      // The branch of a pull request that could not be opened does not stand for a merge that was chosen instead.
      record: taskRef(
        state.id,
        `a${state.attempt}`,
        "merged",
        mergeAs === undefined ? result.commit : `${mode}-${result.commit}`,
      ),
      verify: async (commit) => {
        if (spec.checks.length === 0) return true;
        return verify(await this.#worktrees.checkOut(nameOf(state), "merge", worktree.repository, commit));
      },
    });
    switch (merged.kind) {
      case "merged": {
        const { isRepeated, ...done } = merged;
        const repeats = isRepeated === true ? done.commit : undefined;
        return mode === "pr"
          ? this.#openPullRequest(state, worktree, done, { target, repeats })
          : this.#pushBranch(state, worktree, done);
      }
      case "conflict":
        return merged;
      case "unverified":
        return { kind: "unable", message: "The merged result does not pass its checks.", mayPass: false };
      case "moved":
        return { kind: "unable", message: `${merged.target} kept changing during the merge.`, mayPass: true };
    }
  }

  /** Without a repository the result is a patch for the user's folder. */
  async #writePatch(
    { id, spec }: TaskState,
    { base, repository }: LocatedAttempt,
    commit: string,
  ): Promise<MergeOutcome> {
    const patch = this.#worktrees.patchFile(id);
    await writeFile(patch, await this.#diff(repository.top, base, commit, ["--binary"]), { mode: 0o600 });
    const note = `${spec.cwd} is in no repository, so the result is a patch. Take it over there with: git apply ${patch}`;
    return { kind: "merged", ref: patch, commit, patch, note };
  }

  /** The branch of a shared task is at the remote too, because no one looks for it in the clone of a worker. */
  async #pushBranch(
    { spec }: TaskState,
    { repository }: LocatedAttempt,
    merged: Extract<MergeOutcome, { kind: "merged" }>,
  ): Promise<MergeOutcome> {
    const { url } = this.#cloneOf(spec);
    if (url === undefined || merged.commit === null) return merged;
    // Expected: the remote is away, or has another branch of this name.
    try {
      await push(this.#worktrees.git(repository.top), url, merged.commit, merged.ref);
      const branch = merged.ref.replace("refs/heads/", "");
      return { ...merged, note: `Get it with: git fetch ${spec.remote?.url} ${branch}` };
    } catch (thrown) {
      return { kind: "unable", message: errorMessage(thrown), mayPass: false };
    }
  }

  async #openPullRequest(
    { spec }: TaskState,
    { repository }: LocatedAttempt,
    merged: Extract<MergeOutcome, { kind: "merged" }>,
    more: Pick<PullRequest, "target" | "repeats">,
  ): Promise<MergeOutcome> {
    const branch = merged.ref.replace("refs/heads/", "");
    const request = { folder: repository.top, branch, title: spec.title, body: spec.prompt, ...more };
    // Expected: no gh or glab, no login, no remote; the branch is there, and the user can do it by hand.
    try {
      const url = await this.#openRequest(request);
      return { ...merged, url, note: url };
    } catch (thrown) {
      return {
        kind: "unable",
        message: `${errorMessage(thrown)} The branch ${branch} has the result.`,
        mayPass: false,
      };
    }
  }

  async remove(state: TaskState): Promise<void> {
    // Expected: the repository is gone; the folders of the task are not needed any more then either.
    const located = await this.locate(state).catch(() => undefined);
    for (let attempt = 1; attempt <= state.attempt; attempt += 1)
      await this.#worktrees.remove({ task: state.id, attempt }, located?.repository);
    await this.#worktrees.removeCopy(state.id);
    const { url } = this.#cloneOf(state.spec);
    if (url !== undefined && located !== undefined)
      await forgetShared(this.#worktrees.git(located.repository.top), state.id, url);
  }

  /** The branch to merge into: the one that was named, or the one that is checked out. */
  async #target({ spec }: TaskState, { repository }: LocatedAttempt): Promise<string | undefined> {
    const git = this.#worktrees.git(repository.top);
    if (spec.base !== undefined) {
      const named = await git.attempt(["show-ref", "--verify", "--quiet", `refs/heads/${spec.base}`]);
      return named.exitCode === 0 ? spec.base : undefined;
    }
    const head = await git.attempt(["symbolic-ref", "--quiet", "--short", "HEAD"]);
    return head.exitCode === 0 ? head.stdout.trim() : undefined;
  }

  #worktree(state: TaskState): Promise<Worktree> {
    return this.#worktrees.prepare(this.#requestOf(state));
  }

  /** The repository and the base of an attempt, which needs no folder for that: it may have been removed. */
  locate(state: TaskState): Promise<LocatedAttempt> {
    return this.#worktrees.locate(this.#requestOf(state));
  }

  #requestOf(state: TaskState): WorktreeRequest {
    const { spec, from } = state;
    const continued = lastCommit(state, Number.POSITIVE_INFINITY) ?? from;
    const { cwd, url } = this.#cloneOf(spec);
    const { commit, folder = "" } = spec.remote ?? {};
    return {
      ...nameOf(state),
      cwd,
      base: spec.base,
      ...(url === undefined || commit === undefined ? {} : { shared: { url, commit, folder } }),
      ...(continued === undefined ? {} : { from: continued }),
    };
  }

  #diff(folder: string, from: string, to: string, options: readonly string[] = []): Promise<string> {
    const args = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", ...options, from, to, "--"];
    return this.#worktrees.git(folder).run(args);
  }
}

function nameOf({ id, attempt }: TaskState) {
  return { task: id, attempt };
}

/** The commit of the last round before this one. */
function lastCommit({ rounds }: TaskState, before: number): string | undefined {
  const round = rounds.findLast((each) => each.round < before && typeof each.commit === "string");
  return round?.commit ?? undefined;
}
