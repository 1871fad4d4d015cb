import * as z from "zod/mini";
import { UsageLimit } from "../server/usage-limit.ts";
import { Cost, TokenUsage } from "../thread/usage.ts";
import { Id } from "../wire/ids.ts";
import { lazy, looseObject } from "../wire/loose-object.ts";
import { MergeMode, TaskSpec } from "./task-spec.ts";
import { Contest, TrackedFinding, Verdict } from "./verdict.ts";

const text = z.string().check(z.maxLength(4000));
const commit = z.string().check(z.regex(/^[0-9a-f]{40,64}$/, "must be the id of a git object"));

/** The next step of a run. A run carries a task through several steps, on one worker and under one lease. */
export const Step = z.enum(["prepare", "execute", "check", "review", "merge"]);
export type Step = z.output<typeof Step>;

/** Usage of one turn of a role. */
export const RunUsage = looseObject(() => ({
  tokens: z.optional(TokenUsage),
  cost: z.optional(Cost),
  /** Working time, without waiting for anyone. */
  seconds: z.number(),
}));
export type RunUsage = z.output<typeof RunUsage>;

/** The thread and turn in which the work of a role can be read. */
export const TurnReference = looseObject(() => ({
  threadId: Id,
  turnId: z.optional(Id),
  worker: z.optional(z.string()),
}));
export type TurnReference = z.output<typeof TurnReference>;

/** The outcome of a check. `output` is its end. */
export const CheckResult = looseObject(() => ({
  name: z.string(),
  exitCode: z.nullable(z.int()),
  timedOut: z.boolean(),
  seconds: z.number(),
  output: z.string().check(z.maxLength(16_000)),
  /** Denials of the sandbox, and the option that allows them, if there is one. */
  stopped: z.optional(text),
}));
export type CheckResult = z.output<typeof CheckResult>;

/** The reason a task asks the user. */
export const AskReason = z.enum([
  "approval",
  "question",
  "budget",
  "rounds",
  "conflict",
  "contested",
  "unchanged",
  "limit",
  "lost",
  "dependency",
  "cannotJudge",
  "place",
  "failure",
]);
export type AskReason = z.output<typeof AskReason>;

/** A request of a task to the user. `request` is the approval or question of the agent, if it is one. */
export const TaskAsk = looseObject(() => ({
  id: Id,
  reason: AskReason,
  message: text,
  request: z.optional(z.record(z.string(), z.unknown())),
  threadId: z.optional(Id),
}));
export type TaskAsk = z.output<typeof TaskAsk>;

/** The user's answer. `continue` continues with `message` as instructions, `accept` takes the result as it is. */
export const TaskAnswer = looseObject(() => ({
  choice: z.enum(["continue", "accept", "fail"]),
  message: z.optional(text),
  /** The answer to the agent's own approval or question. */
  response: z.optional(z.record(z.string(), z.unknown())),
}));
export type TaskAnswer = z.output<typeof TaskAnswer>;

/** The reason a task is suspended. */
export const SuspendReason = z.enum(["usageLimit", "backoff", "user"]);
export type SuspendReason = z.output<typeof SuspendReason>;

function row<Data extends z.ZodMiniType>(doc: string, make: () => Data) {
  const data = lazy(make);
  return {
    doc,
    get data() {
      return data();
    },
  };
}

/** Every event of a task: what happened, and what it carries. The log of a task holds nothing else. */
export const TASK_EVENTS = {
  "task/added": row("The task was added.", () =>
    looseObject({
      spec: TaskSpec,
      number: z.int(),
      by: z.string(),
      waiting: z.boolean(),
      key: z.optional(z.string()),
      /** Signature of the machine that added it, for workers on other machines. */
      signature: z.optional(looseObject({ key: z.string(), value: z.string() })),
    }),
  ),
  "task/released": row("Nothing keeps the task from running any more.", () => looseObject({})),
  "attempt/started": row("A new attempt starts, from the base or from the result of a round.", () =>
    looseObject({ attempt: z.int(), from: z.optional(commit) }),
  ),
  "run/leased": row("A worker runs the task from now on. The fence rises with each lease.", () =>
    looseObject({ runId: Id, worker: z.string(), fence: z.int(), leaseId: z.string() }),
  ),
  "run/released": row("The worker gave the task back before its end.", () => looseObject({ reason: text })),
  "run/lost": row("The worker did not renew its lease in time; what it did since then does not count.", () =>
    looseObject({
      runId: Id,
      worker: z.string(),
      fence: z.int(),
      /** Instructions for the next turn of the executor. */
      instructions: z.optional(text),
    }),
  ),
  "run/used": row("A turn that did not complete used this, up to a usage limit if there is one.", () =>
    looseObject({ usage: RunUsage, limit: z.optional(UsageLimit) }),
  ),
  "round/prepared": row("The attempt has its own folder, at this commit.", () =>
    looseObject({
      base: z.nullable(commit),
      folder: z.string(),
      /** The ignored files that were copied from the user's checkout. */
      included: z.optional(z.array(z.string()).check(z.maxLength(200))),
    }),
  ),
  "round/started": row("A turn of the executor starts.", () =>
    looseObject({ round: z.int(), executor: z.int(), clientId: z.string() }),
  ),
  "round/turn": row("The executor's turn has this place.", () =>
    looseObject({ role: z.enum(["executor", "reviewer"]), turn: TurnReference }),
  ),
  "round/executed": row("The executor's turn ended and its work was committed.", () =>
    looseObject({
      turn: TurnReference,
      commit: z.nullable(commit),
      tree: z.nullable(commit),
      /** The files that tools run or obey and the attempt changes. */
      protectedPaths: z.optional(z.array(z.string())),
      summary: z.optional(text),
      contested: z.array(Contest),
      usage: RunUsage,
    }),
  ),
  "round/checked": row("The checks of the round ended.", () =>
    looseObject({ results: z.array(CheckResult), findings: z.array(TrackedFinding) }),
  ),
  "round/reviewed": row(
    "A reviewer judged the round. `findings` are all findings after it, with their state.",
    () =>
      looseObject({
        turn: z.optional(TurnReference),
        reviewer: z.int(),
        /** The reviewer that judges the same round next. Absent: none, or the same one again. */
        next: z.optional(z.int()),
        verdict: Verdict,
        findings: z.array(TrackedFinding),
        usage: RunUsage,
        note: z.optional(text),
      }),
  ),
  "round/rejected": row("Open findings go back to the executor.", () =>
    looseObject({ findings: z.array(TrackedFinding) }),
  ),
  "task/fallback": row("Another agent takes over a role.", () =>
    looseObject({ role: z.enum(["executor", "reviewer"]), index: z.int(), reason: text }),
  ),
  "task/suspended": row("The task is suspended until a time, or until a user resumes it.", () =>
    looseObject({
      reason: SuspendReason,
      untilMs: z.optional(z.number()),
      account: z.optional(z.string()),
      limit: z.optional(UsageLimit),
      message: z.optional(text),
      /** Instructions for the next turn of the executor. */
      instructions: z.optional(text),
    }),
  ),
  "task/resumed": row("The task may run again.", () => looseObject({ by: z.string() })),
  "task/asking": row("The task waits for the user's answer.", () => looseObject({ ask: TaskAsk })),
  "task/answered": row("The user answered.", () =>
    looseObject({ askId: Id, answer: TaskAnswer, by: z.string() }),
  ),
  "task/reviewed": row("The work is ready for the user's approval of exactly this tree.", () =>
    looseObject({
      commit: z.nullable(commit),
      tree: z.nullable(commit),
      /** The files that tools run or obey and the work changes. */
      protectedPaths: z.optional(z.array(z.string())),
    }),
  ),
  "task/approved": row("The result may be merged.", () =>
    looseObject({
      by: z.string(),
      tree: z.nullable(commit),
      /** The mode of merging from then on. Absent: as before. */
      merge: z.optional(MergeMode),
    }),
  ),
  "task/rejected": row("The user wants changes.", () =>
    looseObject({ by: z.string(), comments: text, findings: z.array(TrackedFinding) }),
  ),
  "merge/conflict": row("The result does not merge with what the base has become.", () =>
    looseObject({
      files: z.array(z.string()).check(z.maxLength(200)),
      onto: commit,
      findings: z.array(TrackedFinding),
    }),
  ),
  "task/merged": row("The result is in the repository.", () =>
    looseObject({
      ref: z.string(),
      commit: z.nullable(commit),
      url: z.optional(z.string()),
      patch: z.optional(z.string()),
      note: z.optional(text),
    }),
  ),
  "task/ended": row("The attempt ended, for good unless the task is retried.", () =>
    looseObject({ status: z.enum(["done", "failed"]), error: z.optional(text) }),
  ),
  "task/cancelled": row("The task was cancelled; a running turn is interrupted.", () =>
    looseObject({ by: z.string(), reason: z.optional(text) }),
  ),
  "task/retried": row("The task starts again with a new attempt.", () =>
    looseObject({ by: z.string(), from: z.optional(commit) }),
  ),
  "task/logged": row("Something that explains what happens; it changes nothing.", () =>
    looseObject({
      role: z.optional(z.enum(["executor", "reviewer"])),
      /** Absent: nothing is wrong. */
      level: z.optional(z.enum(["warning", "error"])),
      message: text,
      threadId: z.optional(Id),
    }),
  ),
  "task/steered": row("Someone sent the executor a message.", () =>
    looseObject({
      steerId: Id,
      by: z.string(),
      content: text,
      /** True if a running turn got it; otherwise the next one does. */
      live: z.boolean(),
      /** True if it was meant for a running turn. Absent: yes. */
      requested: z.optional(z.boolean()),
      /** The reason no running turn got it. */
      error: z.optional(text),
      /** The turn that it was sent to. */
      turn: z.optional(TurnReference),
      /** Set on a second event of the same message: the worker that runs the turn says what became of it. */
      answers: z.optional(z.boolean()),
    }),
  ),
} as const;

/** The name of an event of a task. */
export type TaskEventType = keyof typeof TASK_EVENTS;
/** The data of a task's event of this name. */
export type TaskEventData<Type extends TaskEventType> = z.output<(typeof TASK_EVENTS)[Type]["data"]>;
/** An event of a task before it is stored. */
export type TaskEventBody = {
  [Type in TaskEventType]: { type: Type; data: TaskEventData<Type> };
}[TaskEventType];
/** An event in the log of a task: `version` counts from 1, `at` is in unix milliseconds. */
export type TaskEvent = TaskEventBody & { readonly version: number; readonly at: number };

/** Reports whether a name from a file or a peer is an event of a task. */
export function isTaskEventType(name: string): name is TaskEventType {
  return Object.hasOwn(TASK_EVENTS, name);
}

/** The event of a task that a name and data from a file or a peer are; undefined if they are none. */
export function taskEventOf(name: string, data: unknown): TaskEventBody | undefined {
  if (!isTaskEventType(name)) return undefined;
  const parsed = TASK_EVENTS[name].data.safeParse(data);
  // The data was just checked against the row of this name.
  return parsed.success ? ({ type: name, data: parsed.data } as TaskEventBody) : undefined;
}
