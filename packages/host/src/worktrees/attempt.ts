import type { SharedRepository } from "./shared-remote.ts";
import { taskRef, type WorktreeRepository } from "./worktree-repository.ts";

/** Identifies the folder of a task. */
export interface WorktreeName {
  readonly task: string;
  readonly attempt: number;
}

/** Starting point of an attempt. */
export interface WorktreeRequest extends WorktreeName {
  /** The user's folder. */
  readonly cwd: string;
  /** A commit-ish; what is checked out if absent. */
  readonly base?: string | undefined;
  /** The commit of a round, if the attempt continues from one. */
  readonly from?: string | undefined;
  /** Set if the folder is a clone, and other machines work on the task in others. */
  readonly shared?: SharedRepository | undefined;
}

/** Options of an attempt. */
export interface LocatedAttempt {
  /** The commit that the attempt started from. */
  readonly base: string;
  readonly repository: WorktreeRepository;
}

/** A folder of its own for an attempt. */
export interface Worktree extends LocatedAttempt {
  /** The top of the worktree, where all of it may be changed. */
  readonly top: string;
  /** The folder in which the task works: the top, or the subfolder of it that the task was added in. */
  readonly folder: string;
}

/** The ref of the commit that an attempt started from. */
export function baseRef({ task, attempt }: WorktreeName): string {
  return taskRef(task, `a${attempt}`, "base");
}
