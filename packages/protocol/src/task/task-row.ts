import * as z from "zod/mini";
import { Cost, TokenUsage } from "../thread/usage.ts";
import { Id } from "../wire/ids.ts";
import { looseObject } from "../wire/loose-object.ts";
import { Step, TaskAsk, TurnReference } from "./task-events.ts";
import { MergeMode } from "./task-spec.ts";
import { currentRound, mergeModeOf, type TaskState } from "./task-state.ts";
import { TrackedFinding } from "./verdict.ts";

/** The phase of a task. */
export const TaskPhaseName = z.enum([
  "waiting",
  "ready",
  "running",
  "suspended",
  "asking",
  "approving",
  "done",
  "failed",
  "cancelled",
]);

/** A task as lists and pages show it. */
export const TaskRow = looseObject(() => ({
  /** An id, unless somebody else wrote the task into the database of a fleet: then any text, as it has to be listed too. */
  id: z.string(),
  /** A short number for users. */
  number: z.int(),
  title: z.string(),
  cwd: z.string(),
  phase: TaskPhaseName,
  /** The step that it runs, if it runs. */
  step: z.optional(Step),
  attempt: z.int(),
  round: z.int(),
  rounds: z.int(),
  executor: z.string(),
  reviewer: z.optional(z.string()),
  merge: MergeMode,
  labels: z.optional(z.array(z.string())),
  /** The channel of messages that it belongs to. */
  channel: z.optional(Id),
  /** The tasks that have to be done first. */
  after: z.optional(z.array(Id)),
  /** It starts at this time or later, in unix milliseconds. */
  notBeforeMs: z.optional(z.number()),
  /** The thread of the executor, to attach to. */
  thread: z.optional(TurnReference),
  ask: z.optional(TaskAsk),
  /**
   * Time at which it continues, if it is suspended until then, or ready while the account of its agent is at
   * a usage limit.
   */
  untilMs: z.optional(z.number()),
  note: z.optional(z.string()),
  findings: z.array(TrackedFinding),
  usage: looseObject({ tokens: TokenUsage, cost: z.optional(Cost), seconds: z.number() }),
  /** The result that an approval is bound to. */
  result: z.optional(looseObject({ commit: z.nullable(z.string()), tree: z.nullable(z.string()) })),
  /** The place of the result, once it is merged. */
  merged: z.optional(
    looseObject({ ref: z.string(), commit: z.nullable(z.string()), note: z.optional(z.string()) }),
  ),
  error: z.optional(z.string()),
  addedBy: z.string(),
  addedAtMs: z.number(),
  updatedAtMs: z.number(),
}));
export type TaskRow = z.output<typeof TaskRow>;

/** The row of a task. */
export function taskRow(state: TaskState): TaskRow {
  const { spec, usage } = state;
  const reviewer = spec.reviewers[state.reviewer];
  return {
    id: state.id,
    number: state.number,
    title: spec.title,
    cwd: spec.cwd,
    phase: state.phase,
    ...(state.phase === "running" ? { step: state.step } : {}),
    attempt: state.attempt,
    round: roundNumber(state),
    rounds: spec.rounds + state.extraRounds,
    executor: spec.executors[state.executor]?.model ?? "default",
    ...(reviewer === undefined ? {} : { reviewer: reviewer.model ?? "default" }),
    merge: mergeModeOf(state),
    ...(spec.labels === undefined ? {} : { labels: spec.labels }),
    ...(spec.channel === undefined ? {} : { channel: spec.channel }),
    ...(spec.after.length === 0 ? {} : { after: spec.after }),
    ...(spec.notBeforeMs === undefined ? {} : { notBeforeMs: spec.notBeforeMs }),
    ...(state.executorThread === undefined ? {} : { thread: state.executorThread }),
    ...(state.ask === undefined ? {} : { ask: state.ask }),
    ...(state.suspended?.untilMs === undefined ? {} : { untilMs: state.suspended.untilMs }),
    ...(state.suspended?.message === undefined ? {} : { note: state.suspended.message }),
    findings: [...state.findings],
    usage: {
      tokens: usage.tokens,
      seconds: usage.seconds,
      ...(usage.cost === undefined ? {} : { cost: usage.cost }),
    },
    ...(state.result === undefined ? {} : { result: state.result }),
    ...(state.merged === undefined ? {} : { merged: state.merged }),
    ...(state.error === undefined ? {} : { error: state.error }),
    addedBy: state.addedBy,
    addedAtMs: state.addedAt,
    updatedAtMs: state.updatedAt,
  };
}

/** The round that a task works on: a result that goes back to the executor belongs to the round before. */
function roundNumber(state: TaskState): number {
  const last = currentRound(state);
  if (last === undefined) return 0;
  const isNext = state.phase === "running" && state.step === "execute" && last.tree !== undefined;
  return isNext ? last.round + 1 : last.round;
}

/** A worker as lists show it. */
export const WorkerRow = looseObject(() => ({
  name: z.string().check(z.minLength(1), z.maxLength(200)),
  /** The version of Flint that it runs. */
  version: z.string(),
  pools: z.array(z.string()),
  labels: z.array(z.string()),
  /** The number of tasks that it runs at most, and how many it runs now. */
  concurrency: z.int(),
  load: z.int(),
  /** True if it takes no more tasks and is about to exit. */
  draining: z.boolean(),
}));
export type WorkerRow = z.output<typeof WorkerRow>;
