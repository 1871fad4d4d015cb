import * as z from "zod/mini";
import { Approval, QuestionRequest } from "../approval/approval.ts";
import { SandboxPolicyInput } from "../approval/policy.ts";
import { LoggedEvent } from "../events.ts";
import { RestoredFiles } from "../server/restored-files.ts";
import { ToolCallRequest, withClientTools } from "../thread/client-tool.ts";
import { QueuedInput } from "../thread/input.ts";
import { Goal, GoalStatus, Thread, ThreadSettings, Turn } from "../thread/thread.ts";
import { Cost, LastUsage, TokenUsage } from "../thread/usage.ts";
import { Id } from "../wire/ids.ts";
import { LIMITS } from "../wire/limits.ts";
import { Empty, looseObject } from "../wire/loose-object.ts";
import { limit, method, settingsOverrides, threadParams, withMcpServers } from "./method.ts";

const ThreadResult = looseObject({ thread: Thread });

const ThreadStartParams = looseObject({
  ...settingsOverrides,
  sandbox: z.optional(SandboxPolicyInput),
  ephemeral: z.optional(z.boolean()),
  name: z.optional(z.string().check(z.maxLength(500))),
  developerInstructions: z.optional(z.string()),
  ...withMcpServers,
  ...withClientTools,
});

const ThreadOverrides = {
  ...threadParams,
  ...settingsOverrides,
  sandbox: z.optional(SandboxPolicyInput),
  developerInstructions: z.optional(z.string()),
};

/** Whether a turn that runs is stopped first; otherwise the request is refused while one does. */
const interrupt = z.optional(z.boolean());

/** Where a client stands in a thread: the last event it has seen, and of which log. */
const Cursor = { afterSeq: z.optional(z.int().check(z.minimum(0))), epoch: z.optional(z.string()) };

/** What a thread has used so far. */
const Spent = { usage: TokenUsage, lastUsage: z.optional(LastUsage), cost: z.optional(Cost) };

const AttachResult = looseObject({
  thread: Thread,
  settings: ThreadSettings,
  epoch: z.string(),
  seq: z.number(),
  truncated: z.boolean(),
  turns: z.array(Turn),
  nextCursor: z.optional(z.string()),
  approvals: z.array(Approval),
  questions: z.array(QuestionRequest),
  toolCalls: z.optional(z.array(ToolCallRequest)),
  queue: z.array(QueuedInput),
  ...Spent,
});

/** What becomes of the files when turns are dropped. With `preview` nothing changes; the answer says what would. */
const filesOfRevert = {
  files: z.optional(z.enum(["keep", "restore"])),
  preview: z.optional(z.boolean()),
};

const RevertResult = looseObject({
  thread: Thread,
  turnIds: z.array(Id),
  revertId: z.optional(Id),
  files: z.optional(RestoredFiles.files),
  conflicts: z.optional(RestoredFiles.conflicts),
  notSaved: z.optional(RestoredFiles.notSaved),
});

/** Making, following, reading, changing and deleting threads. */
export const THREAD_METHODS = {
  "thread/start": method({
    doc: "Create a thread and follow it.",
    scope: "none",
    params: () => ThreadStartParams,
    result: () => looseObject({ thread: Thread, modelProvider: z.string() }),
  }),
  "thread/resume": method({
    doc: "Take up a stored thread: answers, says `thread/started`, replays its history, and follows it.",
    scope: "thread",
    params: () => looseObject({ ...ThreadOverrides, ...Cursor, ...withMcpServers, ...withClientTools }),
    result: () => looseObject({ thread: Thread, epoch: z.string(), truncated: z.boolean() }),
  }),
  "thread/attach": method({
    doc: "Follow a thread from a known place, or from its present state with items in progress and open approvals.",
    scope: "thread",
    params: () =>
      looseObject({
        ...threadParams,
        ...Cursor,
        ...withMcpServers,
        turns: z.optional(z.int().check(z.minimum(0), z.maximum(LIMITS.page))),
      }),
    result: () => AttachResult,
  }),
  "thread/unsubscribe": method({
    doc: "Stop following a thread; its turn goes on.",
    scope: "none",
    params: () => looseObject(threadParams),
    result: () => Empty,
  }),
  "thread/list": method({
    doc: "List threads, newest first.",
    scope: "none",
    params: () =>
      looseObject({
        cursor: z.optional(z.string()),
        limit: z.optional(z.int().check(z.minimum(1), z.maximum(LIMITS.threads))),
        archived: z.optional(z.boolean()),
        searchTerm: z.optional(z.string().check(z.maxLength(500))),
        cwd: z.optional(z.string()),
        sortKey: z.optional(z.enum(["createdAt", "updatedAt"])),
        sortDirection: z.optional(z.enum(["asc", "desc"])),
      }),
    result: () => looseObject({ data: z.array(Thread), nextCursor: z.optional(z.string()) }),
  }),
  "thread/read": method({
    doc: "Read a thread without following it; turns come in pages from the newest backwards, each page in order.",
    scope: "none",
    params: () =>
      looseObject({
        ...threadParams,
        includeTurns: z.optional(z.boolean()),
        cursor: z.optional(z.string()),
        limit,
      }),
    result: () =>
      looseObject({ thread: Thread, turns: z.optional(z.array(Turn)), nextCursor: z.optional(z.string()) }),
  }),
  "thread/events/list": method({
    doc: "The stored events of a thread after a place, without following it.",
    scope: "none",
    params: () =>
      looseObject({
        ...threadParams,
        afterSeq: z.optional(z.int().check(z.minimum(0))),
        limit: z.optional(z.int().check(z.minimum(1))),
      }),
    result: () =>
      looseObject({ thread: Thread, epoch: z.string(), events: z.array(LoggedEvent), more: z.boolean() }),
  }),
  "thread/loaded/list": method({
    doc: "The threads that this server has in memory: those that run, are followed, or were used a moment ago.",
    scope: "none",
    params: () => looseObject({}),
    result: () => looseObject({ data: z.array(Id) }),
  }),
  "thread/settings/update": method({
    doc: "Change what a thread works with from its next turn on.",
    scope: "thread",
    params: () => looseObject(ThreadOverrides),
    result: () => looseObject({ settings: ThreadSettings }),
  }),
  "thread/fork": method({
    doc: "Start a new thread with the history of another, up to a turn.",
    scope: "thread",
    params: () =>
      looseObject({ ...ThreadOverrides, lastTurnId: z.optional(Id), ephemeral: z.optional(z.boolean()) }),
    result: () => looseObject({ thread: Thread, modelProvider: z.string(), ...Spent }),
  }),
  "thread/archive": method({
    doc: "Put a thread away.",
    scope: "thread",
    params: () => looseObject({ ...threadParams, interrupt }),
    result: () => Empty,
  }),
  "thread/unarchive": method({
    doc: "Take a thread out of the archive.",
    scope: "thread",
    params: () => looseObject(threadParams),
    result: () => ThreadResult,
  }),
  "thread/delete": method({
    doc: "Delete a thread and its log for good.",
    scope: "thread",
    params: () => looseObject({ ...threadParams, interrupt }),
    result: () => Empty,
  }),
  "thread/name/set": method({
    doc: "Name a thread.",
    scope: "thread",
    params: () => looseObject({ ...threadParams, name: z.string().check(z.minLength(1), z.maxLength(500)) }),
    result: () => Empty,
  }),
  "thread/rollback": method({
    doc: "Drop the last turns from the conversation, and put their files back if `files` says so.",
    scope: "thread",
    params: () => looseObject({ ...threadParams, numTurns: z.int().check(z.minimum(1)), ...filesOfRevert }),
    result: () => RevertResult,
  }),
  "thread/revert": method({
    doc: "Go back to the moment before a turn; the files stay as they are unless `files` says otherwise.",
    scope: "thread",
    params: () => looseObject({ ...threadParams, beforeTurnId: Id, ...filesOfRevert }),
    result: () => RevertResult,
  }),
  "thread/revert/undo": method({
    doc: "Take a revert back: its files, and its turns if no turn has begun since.",
    scope: "thread",
    params: () => looseObject({ ...threadParams, revertId: Id }),
    result: () => looseObject({ thread: Thread, turnIds: z.array(Id), ...RestoredFiles }),
  }),
  "thread/compact/start": method({
    doc: "Summarise the context to make room, as a turn of its own.",
    scope: "thread",
    params: () => looseObject(threadParams),
    result: () => looseObject({ turn: Turn }),
  }),
} as const;

/** What a thread is for. */
export const GOAL_METHODS = {
  "thread/goal/get": method({
    doc: "The goal of a thread; null if it has none.",
    scope: "thread",
    params: () => looseObject(threadParams),
    result: () => looseObject({ goal: z.nullable(Goal) }),
  }),
  "thread/goal/set": method({
    doc: "Give a thread a goal, or change the one it has. Its agent hears of it with the next turn.",
    scope: "thread",
    params: () =>
      looseObject({
        ...threadParams,
        objective: z.optional(z.string().check(z.minLength(1), z.maxLength(8_000))),
        status: z.optional(GoalStatus),
        tokenBudget: z.optional(z.nullable(z.int().check(z.minimum(1)))),
      }),
    result: () => looseObject({ goal: Goal }),
  }),
  "thread/goal/clear": method({
    doc: "Take the goal of a thread away.",
    scope: "thread",
    params: () => looseObject(threadParams),
    result: () => looseObject({ cleared: z.boolean() }),
  }),
} as const;
