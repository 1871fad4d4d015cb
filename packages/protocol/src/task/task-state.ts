import type { Cost, TokenUsage } from "../thread/usage.ts";
import type { CheckResult, Step, TaskAnswer, TaskAsk, TaskEventData, TurnReference } from "./task-events.ts";
import type { MergeMode, TaskSpec } from "./task-spec.ts";
import type { TrackedFinding, Verdict } from "./verdict.ts";

/** The phase of a task. `asking` and `approving` wait for the user, `suspended` for a time. */
export type TaskPhase =
  | "waiting"
  | "ready"
  | "running"
  | "suspended"
  | "asking"
  | "approving"
  | "done"
  | "failed"
  | "cancelled";

/** A judgement of a round. */
export interface RoundReview {
  readonly reviewer: number;
  readonly turn: TurnReference | undefined;
  readonly verdict: Verdict;
  readonly note: string | undefined;
}

/** One turn of the executor, its checks and its reviews. */
export interface RoundState {
  readonly round: number;
  readonly executor: number;
  /** The idempotency key of the executor's turn. */
  readonly clientId: string;
  /** The fence of the run that started the turn. */
  readonly fence?: number | undefined;
  /** The note to the next turn that this one was cut off; dropped if it had ended all the same. */
  readonly interruption?: string | undefined;
  /** Number of the task's instructions that the turn got; later ones are for the next turn. */
  readonly instructionsRead?: number | undefined;
  readonly turn?: TurnReference | undefined;
  readonly commit?: string | null | undefined;
  readonly tree?: string | null | undefined;
  /** The files that tools run or obey and the attempt has changed by then. */
  readonly protectedPaths?: string[] | undefined;
  readonly summary?: string | undefined;
  readonly checks: readonly CheckResult[];
  /** The turn of the reviewer that was asked last, until its verdict is known. */
  readonly reviewing?: TurnReference | undefined;
  readonly reviews: readonly RoundReview[];
}

/** The summary of an attempt that is kept after the next one has started. */
export interface AttemptSummary {
  readonly attempt: number;
  readonly rounds: readonly RoundState[];
  readonly folder: string | undefined;
}

/** The lease under which a worker runs a task. */
export interface TaskRun {
  readonly runId: string;
  readonly worker: string;
  readonly fence: number;
  readonly leaseId: string;
}

/** Usage of a task over all its attempts. */
export interface TaskUsage {
  readonly tokens: TokenUsage;
  readonly cost: Cost | undefined;
  readonly seconds: number;
  readonly turns: number;
}

/** Observations that the turns of a task made of an account: times in unix milliseconds. */
export interface AccountMark {
  /** Time at which the last turn of the current run began. */
  readonly startedAt?: number | undefined;
  /** Time at which the last turn that got through began. */
  readonly passedAt?: number | undefined;
  /** Time at which a usage limit was last met, and time until which that keeps the account from working, if known. */
  readonly limitedAt?: number | undefined;
  readonly untilMs?: number | undefined;
  /** Time at which a user last had the task continue after a limit, regardless of its reset. */
  readonly triedAt?: number | undefined;
}

/** Observations that a task made of accounts, by account name. */
export type AccountMarks = Readonly<Record<string, AccountMark>>;

/** The state of a task after its events. */
export interface TaskState {
  readonly id: string;
  readonly version: number;
  /** A short number for users, unique in its store. */
  readonly number: number;
  readonly spec: TaskSpec;
  readonly addedBy: string;
  readonly key: string | undefined;
  readonly addedAt: number;
  readonly updatedAt: number;
  readonly phase: TaskPhase;
  /** The next step of the run. */
  readonly step: Step;
  readonly fence: number;
  readonly run: TaskRun | undefined;
  readonly attempt: number;
  /** The commit that the next attempt starts from, if it is not the base. */
  readonly from: string | undefined;
  readonly base: string | null | undefined;
  readonly folder: string | undefined;
  /** The rounds of this attempt. */
  readonly rounds: readonly RoundState[];
  readonly earlierAttempts: readonly AttemptSummary[];
  readonly findings: readonly TrackedFinding[];
  /** Index of the executor or reviewer that works. */
  readonly executor: number;
  readonly reviewer: number;
  readonly executorThread: TurnReference | undefined;
  /** Instructions for the next turn of the executor. */
  readonly instructions: readonly string[];
  readonly suspended: TaskEventData<"task/suspended"> | undefined;
  /** True if it waited for a time or other tasks when it was suspended, and does again once it is resumed. */
  readonly wasWaiting: boolean;
  readonly ask: TaskAsk | undefined;
  /** An answer that the next run gives to the agent. */
  readonly answer: { readonly ask: TaskAsk; readonly answer: TaskAnswer } | undefined;
  readonly usage: TaskUsage;
  readonly lostRuns: number;
  /** Failures in a row that were followed by a pause. */
  readonly backoffs: number;
  /** Number of times that a usage limit was met since a turn last completed. */
  readonly limitsInRow: number;
  readonly accounts: AccountMarks;
  readonly conflicts: number;
  /** The rounds beyond those of the spec that people allowed, and how often they renewed the budget. */
  readonly extraRounds: number;
  readonly extraBudgets: number;
  readonly result: { readonly commit: string | null; readonly tree: string | null } | undefined;
  /** The mode of merging the result, if a user chose another one than the spec has. */
  readonly mergeAs: MergeMode | undefined;
  readonly merged: TaskEventData<"task/merged"> | undefined;
  readonly error: string | undefined;
  readonly steers: number;
}

/** The name of the worker of a server that runs its tasks itself. */
export const LOCAL_WORKER = "local";

/** Reports whether nothing more happens unless the task is retried. */
export function isEnded({ phase }: Pick<TaskState, "phase">): boolean {
  return phase === "done" || phase === "failed" || phase === "cancelled";
}

/** Returns the mode of merging the result of a task. */
export function mergeModeOf({ spec, mergeAs }: Pick<TaskState, "spec" | "mergeAs">): MergeMode {
  return mergeAs ?? spec.merge;
}

/** The current round; undefined before the first one. */
export function currentRound(state: TaskState): RoundState | undefined {
  return state.rounds.at(-1);
}
