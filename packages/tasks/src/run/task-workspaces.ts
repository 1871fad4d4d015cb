import type { Finding, TaskSpec, TaskState } from "@flint/protocol";
import type { MergeOutcome, PrepareOutcome } from "../decide/outcomes.ts";

/** The work that a turn left in its folder. */
export interface CommittedWork {
  readonly commit: string | null;
  readonly tree: string | null;
  /** True if it differs from the state before the turn. */
  readonly changed: boolean;
  /** The files that tools run or obey and the history of the attempt changes. */
  readonly protectedPaths?: readonly string[];
}

/** Commits that an agent made itself: the thread that keeps them, and the target of its HEAD. */
export interface ExecutorCommits {
  readonly threadId: string;
  readonly name: string;
}

/** The folders in which attempts of tasks work: one for each, never the user's. */
export interface TaskWorkspaces {
  /** Makes what a task starts from available to other machines, if it has a remote. */
  share(spec: TaskSpec): Promise<TaskSpec>;
  /** The addresses of the remotes of the repository in a folder; none if there is no repository. */
  remotes(folder: string): Promise<readonly string[]>;
  /** Makes the folder of the attempt, or finds it as it was left. */
  prepare(state: TaskState): Promise<PrepareOutcome>;
  /** Reports whether the set-up command has run in the folder of the attempt since it was made. */
  isSetUp(state: TaskState): Promise<boolean>;
  /** Remembers that it has. */
  markSetUp(state: TaskState): Promise<void>;
  /** Keeps everything that a turn left in the folder, and the commits that its agent made there. */
  commit(state: TaskState, round: number, own?: ExecutorCommits): Promise<CommittedWork>;
  /**
   * Returns the work that a run committed in a round under this fence, reported or not, and the folder as of
   * it; undefined if there is none.
   */
  committed(state: TaskState, round: number, fence: number): Promise<CommittedWork | undefined>;
  /** A clean checkout of the result, for a reviewer. */
  reviewFolder(state: TaskState, commit: string): Promise<string>;
  /** Returns the findings, by position, that are on lines that the current round changed. */
  onChangedLines(state: TaskState, findings: readonly Finding[]): Promise<ReadonlySet<number>>;
  /** The result as a unified diff from its base. */
  diff(state: TaskState): Promise<string>;
  /** Brings the result into the repository as the task wants it. `verify` sets a folder up and runs the checks there. */
  merge(state: TaskState, verify: (folder: string) => Promise<boolean>): Promise<MergeOutcome>;
  /** Removes the folders of an attempt; what was committed stays. */
  remove(state: TaskState): Promise<void>;
}
