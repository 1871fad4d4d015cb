import type { Mutation } from "../mutation.ts";

const DECISIONS = ["packages/tasks/src/decide/run.test.ts"];
const PEOPLE = ["packages/tasks/src/decide/person.test.ts"];
const STORES = ["packages/tasks/src/store/store.test.ts"];
const SIMULATION = ["packages/tasks/src/testing/simulation.test.ts"];
const WORKTREES = ["packages/host/src/worktrees/worktrees.test.ts"];

/** Faults in what tasks promise. */
export const TASK_FAULTS: readonly Mutation[] = [
  {
    name: "task-lease-never-over",
    promise: "Nothing of a worker whose lease is over is accepted.",
    file: "packages/tasks/src/store/memory-store.ts",
    find: " && leaseEndsAt > this.#elapsed();",
    replace: ";",
    tests: STORES,
  },
  {
    name: "task-unrelated-history",
    promise: "Commits of an agent count only if they continue those of the task.",
    file: "packages/host/src/worktrees/turn-commit.ts",
    find: "return follows.exitCode === 0 ? commit : undefined;",
    replace: "return follows.exitCode >= 0 ? commit : undefined;",
    tests: ["packages/server/src/tasks-commits.long.test.ts"],
  },
  {
    name: "task-fence-not-raised",
    promise: "A lost run cannot write under the fence of its successor.",
    file: "packages/tasks/src/store/memory-store.ts",
    find: "fence: stored.fence + 1,",
    replace: "fence: stored.fence,",
    tests: [...STORES, ...SIMULATION],
  },
  {
    name: "task-approval-of-any-tree",
    promise: "The user approves exactly the tree that was shown.",
    file: "packages/tasks/src/decide/person.ts",
    find: "(state.result?.tree ?? null) !== tree",
    replace: "false",
    tests: PEOPLE,
  },
  {
    name: "task-verdict-by-word",
    promise: "The findings decide about a round, not the word of the reviewer.",
    file: "packages/tasks/src/decide/run.ts",
    find: "if (blockingFindings(findings).length > 0)",
    replace: 'if (verdict.verdict === "reject")',
    tests: DECISIONS,
  },
  {
    name: "task-rounds-unbounded",
    promise: "Rounds are bounded: after the last one the user is asked.",
    file: "packages/tasks/src/decide/finish.ts",
    find: "if (done < allowed) return [rejected];",
    replace: "return [rejected];",
    tests: [...DECISIONS, ...SIMULATION],
  },
  {
    name: "task-moves-checked-out-branch",
    promise: "A merge moves no branch that is checked out.",
    file: "packages/host/src/worktrees/merge.ts",
    find: "if (await isCheckedOut(git, target))",
    replace: "if (false)",
    tests: WORKTREES,
  },
  {
    name: "task-removed-comes-back",
    promise: "A server that was away puts back no task that was removed meanwhile.",
    file: "packages/tasks/src/store/redis/scripts.ts",
    find: "then return -1 end",
    replace: "then now = now end",
    tests: ["packages/tasks/src/fleet/task-backup.test.ts"],
  },
  {
    name: "task-torn-append",
    promise: "What a full disk cut off of a line is not continued by the next one.",
    file: "packages/host/src/store/line-file.ts",
    find: "if (this.#isTorn) this.#files",
    replace: "if (false) this.#files",
    tests: ["packages/host/src/store/line-file.test.ts", ...STORES],
  },
  {
    name: "task-merged-twice",
    promise: "A result whose merge was not reported is not merged again.",
    file: "packages/host/src/worktrees/merge.ts",
    find: "if (earlier !== undefined) return",
    replace: "if (earlier === null) return",
    tests: ["packages/host/src/worktrees/merge-record.long.test.ts"],
  },
  {
    name: "task-ref-replaced",
    promise: "The commit of a round is never replaced by that of a lost run.",
    file: "packages/host/src/worktrees/worktree-repository.ts",
    find: "return present.stdout.trim() === commit;",
    replace: "return present.stdout !== commit;",
    tests: WORKTREES,
  },
];
