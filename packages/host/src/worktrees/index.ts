export { declinedRef } from "../git/incoming.ts";
export { ProtectedCommits } from "../git/protected-commits.ts";
export {
  baseRef,
  type LocatedAttempt,
  type Worktree,
  type WorktreeName,
  type WorktreeRequest,
} from "./attempt.ts";
export { type ChangedLines, changedLines, isChanged } from "./changed-lines.ts";
export type { ProjectTrust } from "./included-files.ts";
export { type MergeRequest, type MergeResult, mergeResult } from "./merge.ts";
export { openPullRequest, type PullRequest } from "./pull-request.ts";
export {
  forgetShared,
  isBelowRemote,
  isRemoteAddress,
  isSameRemote,
  push,
  remotesOf,
  type SharedRepository,
  shareRepository,
  shownAddress,
} from "./shared-remote.ts";
export { type TurnCommit, type TurnCommitRequest, TurnCommits } from "./turn-commit.ts";
export { commitOf, repositoryAt, taskRef, type WorktreeRepository } from "./worktree-repository.ts";
export { Worktrees } from "./worktrees.ts";
