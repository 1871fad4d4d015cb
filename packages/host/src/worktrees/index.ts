export { keptRef } from "../git/incoming.ts";
export { type ChangedLines, changedLines, isChanged } from "./changed-lines.ts";
export { type MergeRequest, type MergeResult, mergeResult } from "./merge.ts";
export { openPullRequest, type PullRequest } from "./pull-request.ts";
export { type TurnCommit, type TurnCommitRequest, TurnCommits } from "./turn-commit.ts";
export { commitOf, repositoryAt, taskRef, type WorktreeRepository } from "./worktree-repository.ts";
export { type Worktree, type WorktreeName, type WorktreeRequest, Worktrees } from "./worktrees.ts";
