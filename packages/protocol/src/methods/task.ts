import * as z from "zod/mini";
import { PublishedEvent } from "../task/published-event.ts";
import { TaskAnswer, TurnReference } from "../task/task-events.ts";
import { TaskPhaseName, TaskRow, WorkerRow } from "../task/task-row.ts";
import { LimitPolicy, MergeMode, TaskBudget, TaskSpec } from "../task/task-spec.ts";
import { Id } from "../wire/ids.ts";
import { Empty, lazy, looseObject } from "../wire/loose-object.ts";
import { clientId, method } from "./method.ts";

const taskParams = { taskId: Id };
/** An id that the list has. It is any text if somebody else wrote the task into the database of a fleet; it becomes no path. */
const listedParams = { taskId: z.string() };
const Changed = looseObject(() => ({ task: TaskRow }));
const DoneForAll = lazy(() =>
  looseObject({
    /** The tasks that were changed. */
    data: z.array(TaskRow),
    /** Those that could not be, and why. */
    skipped: z.array(looseObject({ taskId: z.string(), number: z.int(), reason: z.string() })),
  }),
);
/** Clients announce messages; what happens in tasks comes from the server alone. */
const MessageEvent = lazy(() => z.extend(PublishedEvent, { type: z.literal("session:message") }));
const text = z.string().check(z.minLength(1), z.maxLength(4000));

/** A task to add: what is left out has a default. Of `after`, a name may also be that of a task in the same request. */
const TaskInput = lazy(() =>
  z.extend(z.partial(TaskSpec), {
    prompt: TaskSpec.def.shape.prompt,
    cwd: TaskSpec.def.shape.cwd,
    budget: z.optional(z.partial(TaskBudget)),
    limits: z.optional(z.partial(LimitPolicy)),
    /** A name for other tasks of the same request to come after. */
    name: z.optional(z.string().check(z.minLength(1), z.maxLength(100))),
    clientId,
  }),
);

/** Tasks: work that an executor does and a reviewer judges, unattended. */
export const TASK_METHODS = {
  "task/add": method({
    doc: "Add tasks, all or none. A task that is added again with the same `clientId` is not added twice.",
    scope: "none",
    params: () => looseObject({ tasks: z.array(TaskInput()).check(z.minLength(1), z.maxLength(1000)) }),
    result: () =>
      looseObject({
        data: z.array(TaskRow),
        /** Problems that may keep their agents from working. */
        warnings: z.optional(z.array(z.string())),
      }),
  }),
  "task/list": method({
    doc: "List the tasks, oldest first. With `revision` and `timeoutMs`, the response waits for the next change.",
    scope: "none",
    params: () =>
      looseObject({
        revision: z.optional(z.number()),
        timeoutMs: z.optional(z.int().check(z.minimum(0), z.maximum(60_000))),
      }),
    result: () => looseObject({ revision: z.number(), data: z.array(TaskRow) }),
  }),
  "task/read": method({
    doc: "Read a task with everything that happened to it.",
    scope: "none",
    params: () => looseObject({ ...listedParams, after: z.optional(z.int()) }),
    result: () =>
      looseObject({
        task: TaskRow,
        spec: TaskSpec,
        events: z.array(
          looseObject({ type: z.string(), version: z.int(), at: z.number(), data: z.unknown() }),
        ),
      }),
  }),
  "task/diff": method({
    doc: "Read the result of a task as a unified diff. `tree` is the tree that an approval applies to.",
    scope: "none",
    params: () => looseObject(taskParams),
    result: () => looseObject({ diff: z.string(), tree: z.nullable(z.string()) }),
  }),
  "task/answer": method({
    doc: "Answer a task's question.",
    scope: "none",
    params: () => looseObject({ ...taskParams, askId: Id, answer: TaskAnswer }),
    result: () => Changed,
  }),
  "task/approve": method({
    doc: "Approve the result of a task: exactly the tree that was shown.",
    scope: "none",
    params: () => looseObject({ ...taskParams, tree: z.nullable(z.string()) }),
    result: () => Changed,
  }),
  "task/merge": method({
    doc: "Merge the result of a task that is done but not merged, or whose merge needs an answer: exactly the tree that was shown.",
    scope: "none",
    params: () =>
      looseObject({
        ...taskParams,
        tree: z.nullable(z.string()),
        /** Absent: as the task says, or as a branch if that is `none`. */
        merge: z.optional(MergeMode),
      }),
    result: () => Changed,
  }),
  "task/reject": method({
    doc: "Request changes to the result of a task; the comments go back to the executor.",
    scope: "none",
    params: () => looseObject({ ...taskParams, comments: text }),
    result: () => Changed,
  }),
  "task/steer": method({
    doc: "Send the executor a message: into the running turn, or with its next one.",
    scope: "none",
    params: () =>
      looseObject({
        ...taskParams,
        content: text,
        /** True if a running turn gets it; with false, the next one does. Default: true. */
        live: z.optional(z.boolean()),
        /** Keep it for a retry if the task has ended; otherwise that is an error. */
        keep: z.optional(z.boolean()),
      }),
    result: () =>
      looseObject({
        steerId: Id,
        /** True if a running turn got it. */
        live: z.boolean(),
        /** The reason no running turn got it, unless `live` was false. */
        error: z.optional(z.string()),
        /** The turn that it was sent to. */
        turn: z.optional(TurnReference),
      }),
  }),
  "task/suspend": method({
    doc: "Suspend a task; a running turn is interrupted.",
    scope: "none",
    params: () => looseObject(taskParams),
    result: () => Changed,
  }),
  "task/resume": method({
    doc: "Resume a suspended task now.",
    scope: "none",
    params: () => looseObject(taskParams),
    result: () => Changed,
  }),
  "task/suspendAll": method({
    doc: "Suspend all tasks that have not ended; running turns are interrupted.",
    scope: "none",
    params: () => Empty,
    result: () => DoneForAll(),
  }),
  "task/resumeAll": method({
    doc: "Resume all suspended tasks now.",
    scope: "none",
    params: () => Empty,
    result: () => DoneForAll(),
  }),
  "task/cancel": method({
    doc: "Cancel a task; a running turn is interrupted. Its commits are kept.",
    scope: "none",
    params: () => looseObject({ ...listedParams, reason: z.optional(text) }),
    result: () => Changed,
  }),
  "task/retry": method({
    doc: "Run a finished task again, from its base or from the result of a round.",
    scope: "none",
    params: () =>
      looseObject({
        ...taskParams,
        /** The attempt of that round. Absent: the last one. */
        fromAttempt: z.optional(z.int().check(z.minimum(1))),
        /** Absent, with `fromAttempt`: its last round with a result. */
        fromRound: z.optional(z.int().check(z.minimum(1))),
      }),
    result: () => Changed,
  }),
  "task/remove": method({
    doc: "Remove a finished task and its folders. Its commits stay under `refs/flint/tasks`.",
    scope: "none",
    params: () => looseObject(listedParams),
    result: () => Empty,
  }),
  "task/clean": method({
    doc: "Remove the folders of finished tasks on this machine; their commits stay under `refs/flint/tasks`. Lists what was removed, and what is kept and why.",
    scope: "none",
    params: () =>
      looseObject({
        /** Only these, also if they failed, were cancelled or ended a moment ago. Absent: all that are done. */
        taskIds: z.optional(z.array(Id).check(z.maxLength(1000))),
        /** Only tasks that ended so long ago. */
        olderThanMs: z.optional(z.number().check(z.minimum(0))),
        /** Also tasks that failed or were cancelled, and changes that are in no commit. */
        force: z.optional(z.boolean()),
        /** List what would be removed, and remove nothing. */
        dryRun: z.optional(z.boolean()),
      }),
    result: () =>
      looseObject({
        data: z.array(
          looseObject({
            taskId: Id,
            number: z.int(),
            title: z.string(),
            phase: TaskPhaseName,
            updatedAtMs: z.number(),
            /** Disk space that its folders use. */
            bytes: z.number(),
            /** The reason they are kept. Absent: they were removed, or would be. */
            kept: z.optional(z.string()),
          }),
        ),
        /** The free space where the folders are. */
        freeBytes: z.number(),
        /** No turn of a task starts with less. */
        minFreeBytes: z.number(),
      }),
  }),
  "worker/list": method({
    doc: "List the workers that run the tasks; of a server that runs its own, that is one named `local`.",
    scope: "none",
    params: () => looseObject({}),
    result: () => looseObject({ data: z.array(WorkerRow) }),
  }),
  "worker/drain": method({
    doc: "Let a worker take no more tasks, finish or give back what it runs, and exit.",
    scope: "none",
    params: () => looseObject({ name: WorkerRow.def.shape.name }),
    result: () => looseObject({ worker: WorkerRow }),
  }),
} as const;

/** The events of tasks, for clients that are not subscribed to the threads of a task. */
export const TASK_EVENT_METHODS = {
  "task/subscribe": method({
    doc: "Send this client the events of all tasks from now on, as `task/event`. Rejected in a fleet, which publishes them in Redis.",
    scope: "none",
    params: () => Empty,
    result: () => Empty,
  }),
  "task/publish": method({
    doc: "Tell the clients that follow the tasks about a message in a channel.",
    scope: "none",
    params: () => looseObject({ event: MessageEvent() }),
    result: () => Empty,
  }),
} as const;

/** The name of a method of tasks. */
export type TaskMethod = keyof typeof TASK_METHODS;
