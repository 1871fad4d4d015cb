import * as z from "zod/mini";
import { BudgetEnforcement } from "../approval/budget.ts";
import { GitMode, NetworkSetting } from "../approval/permission.ts";

import { absolutePath } from "../methods/method.ts";
import { Id } from "../wire/ids.ts";
import { looseObject } from "../wire/loose-object.ts";

/** A path that cannot lead out of a folder; empty for the folder itself. */
const RELATIVE = relativePath();
const shortText = z.string().check(z.minLength(1), z.maxLength(200));

/** The most that a check or a set-up command may take. */
const MAX_CHECK_SECONDS = 3600;

/** A command that has to exit with 0 before a round is reviewed. */
export const Check = looseObject(() => ({
  name: z.optional(shortText),
  command: z.string().check(z.minLength(1), z.maxLength(4000)),
  timeoutSeconds: z.optional(
    z.int().check(z.minimum(1), z.maximum(MAX_CHECK_SECONDS, "must be at most 3600, an hour")),
  ),
}));
export type Check = z.output<typeof Check>;

/** The agent or model of a role (the configured one if absent), and instructions in addition to the prompt. */
export const Role = looseObject(() => ({
  model: z.optional(shortText),
  instructions: z.optional(z.string().check(z.maxLength(16_000))),
  effort: z.optional(shortText),
}));
export type Role = z.output<typeof Role>;

/** Limits of a task over all its attempts. At least one limit always applies, because `seconds` has a default. */
export const TaskBudget = looseObject(() => ({
  costUsd: z.optional(z.number().check(z.positive("must be more than 0"))),
  tokens: z.optional(z.int().check(z.minimum(1))),
  seconds: z.int().check(z.minimum(1), z.maximum(7 * 86_400)),
  /** Enforcement of cost and tokens, as for a thread; absent: as the server is configured. */
  enforcement: z.optional(BudgetEnforcement),
}));
export type TaskBudget = z.output<typeof TaskBudget>;

/**
 * The use of the result: none, a branch, or a merge into the base branch. `pr` uses the user's own gh or
 * glab.
 */
export const MergeMode = z.enum(["none", "branch", "squash", "rebase", "merge", "pr"]);
export type MergeMode = z.output<typeof MergeMode>;

/**
 * The reviews that count if there are several reviewers. `first`: the first judges, and the others take over,
 * in this order, if it cannot. `all`: each judges every round and has to approve. `any`: they are asked in
 * turn until one approves.
 */
export const ReviewMode = z.enum(["first", "all", "any"]);
export type ReviewMode = z.output<typeof ReviewMode>;

/** The reaction to a usage limit: continue after the reset, ask first, or fail. */
export const ResumeMode = z.enum(["auto", "ask", "never"]);
export type ResumeMode = z.output<typeof ResumeMode>;

/** A daily span in which suspended tasks do not continue, such as 23:00 to 07:00, in the server's time zone. */
export const QuietHours = looseObject(() => ({
  from: z.string().check(z.regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time such as 23:00")),
  to: z.string().check(z.regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time such as 07:00")),
}));
export type QuietHours = z.output<typeof QuietHours>;

/** The rules for a task at a usage limit. */
export const LimitPolicy = looseObject(() => ({
  resume: ResumeMode,
  maxWaitSeconds: z.int().check(z.minimum(60), z.maximum(14 * 86_400)),
  quietHours: z.optional(QuietHours),
}));
export type LimitPolicy = z.output<typeof LimitPolicy>;

/** The most rounds and attempts that a task may have: a task that never ends cannot be written. */
export const TASK_BOUNDS = {
  rounds: 10,
  attempts: 10,
  checks: 20,
  dependencies: 50,
  roles: 5,
  labels: 20,
} as const;

/** A word that tasks ask for and workers offer, such as `gpu` or `zone=eu`. */
export const LABEL = /^[\w.:=/-]{1,100}$/;
const Label = z.string().check(z.regex(LABEL, "must be a label such as gpu or zone=eu"));

/**
 * The remote through which machines with the repository at different paths share a task: its name in the repository, or
 * an address. The server fills in the address, the commit that the task starts from and its folder in the repository.
 */
export const TaskRemote = looseObject(() => ({
  url: z.string().check(z.minLength(1), z.maxLength(2000)),
  commit: z.optional(
    z.string().check(z.regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, "must be the id of a commit")),
  ),
  folder: z.optional(
    z.string().check(z.maxLength(1000), z.regex(RELATIVE, "must be a folder in the repository")),
  ),
}));
export type TaskRemote = z.output<typeof TaskRemote>;

/**
 * The goal of a task, the roles that work on and judge it, and its bounds. Complete: defaults are filled in.
 */
export const TaskSpec = looseObject(() => ({
  title: shortText,
  prompt: z.string().check(z.minLength(1), z.maxLength(64_000)),
  /** The repository, or the folder if it is not in one. */
  cwd: absolutePath,
  /** The commit-ish that attempts start from; absent: what is checked out when the first attempt starts. */
  base: z.optional(shortText),
  remote: z.optional(TaskRemote),
  /** The first works; the others take over, in this order, if it cannot. */
  executors: z.array(Role).check(z.minLength(1), z.maxLength(TASK_BOUNDS.roles)),
  /** Empty: there is no review. */
  reviewers: z.array(Role).check(z.maxLength(TASK_BOUNDS.roles)),
  /** Absent: `first`. */
  reviews: z.optional(ReviewMode),
  checks: z.array(Check).check(z.maxLength(TASK_BOUNDS.checks)),
  setup: z.optional(Check),
  rounds: z.int().check(z.minimum(1), z.maximum(TASK_BOUNDS.rounds)),
  attempts: z.int().check(z.minimum(1), z.maximum(TASK_BOUNDS.attempts)),
  budget: TaskBudget,
  limits: LimitPolicy,
  merge: MergeMode,
  /** The party with the final say on the result. */
  approvedBy: z.enum(["user", "reviewer"]),
  /**
   * `sandbox`: commands that stay in the sandbox are allowed, as are edits; what else the rules do not allow is asked.
   * `tools`: tools and network access are allowed too. What leaves the sandbox is asked about in any case.
   */
  allow: z.enum(["sandbox", "tools"]),
  network: z.optional(NetworkSetting),
  git: z.optional(GitMode),
  /** Tasks that have to be done first. */
  after: z.array(Id).check(z.maxLength(TASK_BOUNDS.dependencies)),
  onDependencyFailed: z.enum(["ask", "fail", "continue"]),
  /** Not before this time, in unix milliseconds. */
  notBeforeMs: z.optional(z.number()),
  /** Higher comes first. */
  priority: z.int().check(z.minimum(-100), z.maximum(100)),
  pool: z.optional(shortText),
  /** Only workers with all of these run it. */
  labels: z.optional(z.array(Label).check(z.maxLength(TASK_BOUNDS.labels))),
  channel: z.optional(Id),
}));
export type TaskSpec = z.output<typeof TaskSpec>;

/** Returns the review mode of a task; `first` for a single reviewer. */
export function reviewModeOf({
  reviewers,
  reviews = "first",
}: Pick<TaskSpec, "reviewers" | "reviews">): ReviewMode {
  return reviewers.length > 1 ? reviews : "first";
}

/** Written without assertions, so that readers of the JSON schema can make values of it. */
function relativePath(): RegExp {
  const name = String.raw`(?:\.|\.?[^/.\0][^/\0]*|\.\.[^/\0]+)`;
  return new RegExp(`^(?:${name}(?:/${name}?)*)?$`);
}
