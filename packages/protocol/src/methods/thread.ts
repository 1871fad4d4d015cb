import * as z from "zod/mini";
import { Approval, QuestionRequest } from "../approval/approval.ts";
import { SandboxPolicyInput } from "../approval/policy.ts";
import { LoggedEvent } from "../events.ts";
import { RestoredFiles } from "../server/restored-files.ts";
import { ToolCallRequest, withClientTools } from "../thread/client-tool.ts";
import { QueuedInput } from "../thread/input.ts";
import {
  AgentCommand,
  BackgroundCommand,
  Goal,
  GoalStatus,
  Thread,
  ThreadSettings,
  ThreadTask,
  Turn,
} from "../thread/thread.ts";
import { Cost, LastUsage, TokenUsage } from "../thread/usage.ts";
import { Id } from "../wire/ids.ts";
import { LIMITS } from "../wire/limits.ts";
import { Empty, lazy, looseObject } from "../wire/loose-object.ts";
import { clientId, limit, method, settingsOverrides, threadParams, withMcpServers } from "./method.ts";

const ThreadResult = looseObject(() => ({ thread: Thread }));

const ThreadStartParams = looseObject(() => ({
  ...settingsOverrides(),
  sandbox: z.optional(SandboxPolicyInput),
  task: z.optional(ThreadTask),
  ephemeral: z.optional(z.boolean()),
  name: z.optional(z.string().check(z.maxLength(500))),
  developerInstructions: z.optional(z.string()),
  ...withMcpServers,
  ...withClientTools,
  clientId,
}));

const threadOverrides = lazy(() => ({
  ...threadParams,
  ...settingsOverrides(),
  sandbox: z.optional(SandboxPolicyInput),
  task: z.optional(ThreadTask),
  developerInstructions: z.optional(z.string()),
}));

/** True if a running turn is interrupted first; without it, the request is rejected while a turn runs. */
const interrupt = z.optional(z.boolean());

/** The position of a client in a thread: the last event it has received, and of which log. */
const Cursor = { afterSeq: z.optional(z.int().check(z.minimum(0))), epoch: z.optional(z.string()) };

/** The usage of a thread so far. */
const usageFields = { usage: TokenUsage, lastUsage: z.optional(LastUsage), cost: z.optional(Cost) };

const AttachResult = looseObject(() => ({
  thread: Thread,
  settings: ThreadSettings,
  epoch: z.string(),
  seq: z.number(),
  truncated: z.boolean(),
  turns: z.array(Turn),
  /** The items in progress. Those without a status, such as messages, do not say it themselves. */
  openItemIds: z.optional(z.array(Id)),
  nextCursor: z.optional(z.string()),
  approvals: z.array(Approval),
  questions: z.array(QuestionRequest),
  toolCalls: z.optional(z.array(ToolCallRequest)),
  queue: z.array(QueuedInput),
  /** The slash commands that an agent of the thread reported last. */
  agentCommands: z.optional(looseObject({ agent: z.string(), commands: z.array(AgentCommand) })),
  ...usageFields,
  /** Time that its turns have worked, without waiting for the user. */
  workedMs: z.optional(z.number()),
}));

/** Handling of the files of dropped turns. With `preview` nothing changes; the answer lists what would. */
const filesOfRevert = {
  files: z.optional(z.enum(["keep", "restore"])),
  preview: z.optional(z.boolean()),
};

const RevertResult = looseObject(() => ({
  thread: Thread,
  turnIds: z.array(Id),
  revertId: z.optional(Id),
  files: z.optional(RestoredFiles.files),
  conflicts: z.optional(RestoredFiles.conflicts),
  notSaved: z.optional(RestoredFiles.notSaved),
}));

/** Starting, resuming, reading, changing and deleting threads. */
export const THREAD_METHODS = {
  "thread/start": method({
    doc: "Create a thread and subscribe to it. A request that is repeated with the same `clientId` gets the thread of the first one, also after a restart of the server unless the thread is ephemeral.",
    scope: "none",
    params: () => ThreadStartParams,
    result: () => looseObject({ thread: Thread, modelProvider: z.string() }),
  }),
  "thread/resume": method({
    doc: "Resume a stored thread: answers, sends `thread/started`, replays its history, and subscribes to it.",
    scope: "thread",
    params: () => looseObject({ ...threadOverrides(), ...Cursor, ...withMcpServers, ...withClientTools }),
    result: () =>
      looseObject({
        thread: Thread,
        epoch: z.string(),
        truncated: z.boolean(),
        /** The last event of the history that is replayed. */
        seq: z.optional(z.number()),
      }),
  }),
  "thread/attach": method({
    doc: "Subscribe to a thread from a known position, or from its current state with items in progress and open approvals.",
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
    doc: "Unsubscribe from a thread; its turn continues.",
    scope: "none",
    params: () => looseObject(threadParams),
    result: () => Empty,
  }),
  "thread/list": method({
    doc: "List threads, newest first. Those of sub-agents are listed only for the `parentThreadId` that started them.",
    scope: "none",
    params: () =>
      looseObject({
        cursor: z.optional(z.string()),
        limit: z.optional(z.int().check(z.minimum(1), z.maximum(LIMITS.threads))),
        archived: z.optional(z.boolean()),
        searchTerm: z.optional(z.string().check(z.maxLength(500))),
        cwd: z.optional(z.string()),
        /** Lists only the threads that work on tasks, or with `false` only the others. */
        ofTasks: z.optional(z.boolean()),
        /** Lists the threads of the sub-agents that this thread started instead, whether archived or not. */
        parentThreadId: z.optional(Id),
        sortKey: z.optional(z.enum(["createdAt", "updatedAt"])),
        sortDirection: z.optional(z.enum(["asc", "desc"])),
      }),
    result: () => looseObject({ data: z.array(Thread), nextCursor: z.optional(z.string()) }),
  }),
  "thread/read": method({
    doc: "Read a thread without subscribing to it. Turns come in pages, newest page first, each page in order.",
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
    doc: "List the stored events of a thread after a position, without subscribing to it.",
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
    doc: "List the threads that are in memory: those that run, have subscribers, or were used recently.",
    scope: "none",
    params: () => looseObject({}),
    result: () => looseObject({ data: z.array(Id) }),
  }),
  "thread/settings/update": method({
    doc: "Change the settings of a thread from its next turn on.",
    scope: "thread",
    params: () => looseObject(threadOverrides()),
    result: () => looseObject({ settings: ThreadSettings }),
  }),
  "thread/fork": method({
    doc: "Start a new thread with the history of another, up to a turn.",
    scope: "thread",
    params: () =>
      looseObject({ ...threadOverrides(), lastTurnId: z.optional(Id), ephemeral: z.optional(z.boolean()) }),
    result: () => looseObject({ thread: Thread, modelProvider: z.string(), ...usageFields }),
  }),
  "thread/archive": method({
    doc: "Archive a thread.",
    scope: "thread",
    params: () => looseObject({ ...threadParams, interrupt }),
    result: () => Empty,
  }),
  "thread/unarchive": method({
    doc: "Unarchive a thread.",
    scope: "thread",
    params: () => looseObject(threadParams),
    result: () => ThreadResult,
  }),
  "thread/delete": method({
    doc: "Delete a thread and its log.",
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
    doc: "Drop the last turns from the conversation, and restore their files if `files` is `restore`.",
    scope: "thread",
    params: () => looseObject({ ...threadParams, numTurns: z.int().check(z.minimum(1)), ...filesOfRevert }),
    result: () => RevertResult,
  }),
  "thread/revert": method({
    doc: "Go back to before a turn. The files stay as they are unless `files` is `restore`.",
    scope: "thread",
    params: () => looseObject({ ...threadParams, beforeTurnId: Id, ...filesOfRevert }),
    result: () => RevertResult,
  }),
  "thread/revert/undo": method({
    doc: "Undo a revert: its files, and its turns if no turn has started since.",
    scope: "thread",
    params: () => looseObject({ ...threadParams, revertId: Id }),
    result: () => looseObject({ thread: Thread, turnIds: z.array(Id), ...RestoredFiles }),
  }),
  "thread/compact/start": method({
    doc: "Summarise the context to free space, as a turn of its own.",
    scope: "thread",
    params: () => looseObject(threadParams),
    result: () => looseObject({ turn: Turn }),
  }),
} as const;

/** The commands that an agent left running. */
export const BACKGROUND_METHODS = {
  "thread/backgroundCommands/list": method({
    doc: "List the commands that the agent of a thread left running in the background. Does not start the agent.",
    scope: "none",
    params: () => looseObject(threadParams),
    result: () => looseObject({ data: z.array(BackgroundCommand) }),
  }),
  "thread/backgroundCommands/stop": method({
    doc: "Stop a background command, or all of a thread if no `processId` is given. `stopped` names those that were running.",
    scope: "none",
    params: () => looseObject({ ...threadParams, processId: z.optional(Id) }),
    result: () => looseObject({ stopped: z.array(z.string()) }),
  }),
} as const;

const Pursue = looseObject(() => ({
  maxTurns: z.optional(z.int().check(z.minimum(1), z.maximum(1_000))),
  maxSeconds: z.optional(z.number().check(z.minimum(1))),
  maxCostUsd: z.optional(z.number().check(z.positive())),
  check: z.optional(z.string().check(z.minLength(1), z.maxLength(8_000))),
}));

/** The goal of a thread. */
export const GOAL_METHODS = {
  "thread/goal/get": method({
    doc: "Read the goal of a thread; null if it has none.",
    scope: "thread",
    params: () => looseObject(threadParams),
    result: () => looseObject({ goal: z.nullable(Goal) }),
  }),
  "thread/goal/set": method({
    doc: "Set or change the goal of a thread. Its agent is informed with the next turn. With `pursue`, turns follow each other from then on, with any agent, until the goal is reached, one of its limits is, or a turn does not complete; `check` is a command that succeeds once it is reached, without it the agent's own word counts.",
    scope: "thread",
    params: () =>
      looseObject({
        ...threadParams,
        objective: z.optional(z.string().check(z.minLength(1), z.maxLength(8_000))),
        status: z.optional(GoalStatus),
        tokenBudget: z.optional(z.nullable(z.int().check(z.minimum(1)))),
        pursue: z.optional(z.nullable(Pursue)),
      }),
    result: () => looseObject({ goal: Goal }),
  }),
  "thread/goal/clear": method({
    doc: "Clear the goal of a thread.",
    scope: "thread",
    params: () => looseObject(threadParams),
    result: () => looseObject({ cleared: z.boolean() }),
  }),
} as const;
