import * as z from "zod/mini";
import { Budget } from "../approval/budget.ts";
import { DeclinedAction } from "../approval/declined.ts";
import { GitMode, NetworkSetting } from "../approval/permission.ts";
import { ApprovalPolicy, SandboxPolicy } from "../approval/policy.ts";
import { ThreadItem } from "../items.ts";
import { UsageLimit } from "../server/usage-limit.ts";
import { Id } from "../wire/ids.ts";
import { looseObject } from "../wire/loose-object.ts";
import { Cost } from "./usage.ts";

/** A slash command of an agent: a prompt that begins with `/name` runs it. */
export const AgentCommand = looseObject(() => ({
  name: z.string(),
  description: z.optional(z.string()),
  /** A hint at the arguments to write after it. */
  hint: z.optional(z.string()),
}));
export type AgentCommand = z.output<typeof AgentCommand>;

/** A command that an agent left running while it does other things. `processId` is the agent's own name for it. */
export const BackgroundCommand = looseObject(() => ({
  processId: z.string(),
  command: z.string(),
  cwd: z.optional(z.string()),
  /** The item that shows it. */
  itemId: z.optional(z.string()),
}));
export type BackgroundCommand = z.output<typeof BackgroundCommand>;

/** The reason a turn failed, by name. Free text is allowed; these are the names Flint itself uses. */
export const TURN_ERROR_INFO = [
  "ContextWindowExceeded",
  "UsageLimitExceeded",
  "InternalServerError",
  "Unauthorized",
  "BadRequest",
  "ThreadRollbackFailed",
  "SandboxError",
  "AgentFailed",
  "StorageFailed",
  "ServerStopped",
  "BudgetExceeded",
  "TurnLimitReached",
  "OutputLimitReached",
  "SchemaMismatch",
  "Refused",
  "Other",
] as const;
export type TurnErrorInfo = (typeof TURN_ERROR_INFO)[number];

/** The reason a turn failed. */
export const TurnError = looseObject(() => ({
  message: z.string(),
  errorInfo: z.optional(z.string()),
  httpStatusCode: z.optional(z.number()),
  additionalDetails: z.optional(z.string()),
  /** The usage limit of the account that the turn failed at. */
  limit: z.optional(UsageLimit),
}));
export type TurnError = z.output<typeof TurnError>;

/** The status of a turn. */
export const TurnStatus = z.enum(["inProgress", "completed", "interrupted", "failed"]);
export type TurnStatus = z.output<typeof TurnStatus>;

/** The kind of a turn: a prompt, a review, a compaction of the context, or a shell command of the user. */
export const TurnKind = z.enum(["prompt", "review", "compact", "shell", "injected"]);
export type TurnKind = z.output<typeof TurnKind>;

/** The end of a turn in the agent's own session, by the agent's own ids: a fork of the session can start there. */
export const NativeEnd = looseObject(() => ({
  agent: z.string(),
  sessionId: z.string(),
  position: z.string(),
}));
export type NativeEnd = z.output<typeof NativeEnd>;

/**
 * One input and everything the agent did about it. `itemsView` states whether `items` is complete: a turn that is
 * replayed or listed may come without items (`notLoaded`), because each item also has events of its own.
 */
export const Turn = looseObject(() => ({
  id: Id,
  status: TurnStatus,
  items: z.array(ThreadItem),
  itemsView: z.optional(z.enum(["full", "notLoaded"])),
  kind: z.optional(TurnKind),
  error: z.optional(TurnError),
  startedAtMs: z.optional(z.number()),
  completedAtMs: z.optional(z.number()),
  durationMs: z.optional(z.number()),
  /** The part of it that was spent waiting for the user. */
  waitedMs: z.optional(z.number()),
  nativeEnd: z.optional(NativeEnd),
  /** Actions that were declined in it. */
  declined: z.optional(z.array(DeclinedAction)),
}));
export type Turn = z.output<typeof Turn>;

/** The values of the agent's selectors, by option id. */
export const ConfigValues = z.record(z.string(), z.string());
export type ConfigValues = z.output<typeof ConfigValues>;

/** Level of detail at which the model summarizes its reasoning. */
export const ReasoningSummary = z.enum(["auto", "concise", "detailed", "none"]);
export type ReasoningSummary = z.output<typeof ReasoningSummary>;

/** The id of the selector of the agent's tone, for models that have one. */
export const PERSONALITY = "personality";

/** The task that a thread works on, and the first of the ports that are the task's alone on its machine. */
export const ThreadTask = looseObject({
  taskId: Id,
  portBase: z.int().check(z.minimum(1024), z.maximum(65_526)),
});
export type ThreadTask = z.output<typeof ThreadTask>;

/** Returns the environment variables that the programs of a task get. */
export function taskVariables(task: ThreadTask | undefined): Readonly<Record<string, string>> {
  return task === undefined ? {} : { FLINT_TASK_ID: task.taskId, FLINT_PORT_BASE: String(task.portBase) };
}

/** The settings of a thread, which apply until they are changed. */
export const ThreadSettings = looseObject(() => ({
  model: z.string(),
  /** The provider of the model, such as `anthropic`. Absent: the agent. Follows from the model. */
  modelProvider: z.optional(z.string()),
  cwd: z.string(),
  approvalPolicy: ApprovalPolicy,
  sandboxPolicy: SandboxPolicy,
  /** The hosts that commands may connect to; for others the user is asked. Absent: the user is asked about every host. */
  network: z.optional(NetworkSetting),
  /** Mode for adding commits of sandboxed agents to the repository. Absent: the user is asked. */
  git: z.optional(GitMode),
  /** True if files in the workspace are changed without approval. */
  acceptEdits: z.optional(z.boolean()),
  /** True if commands that stay in the sandbox run without approval, unless everything is asked about. */
  acceptCommands: z.optional(z.boolean()),
  /** The task that the thread works on; its commands get the variables of the task. */
  task: z.optional(ThreadTask),
  config: ConfigValues,
  developerInstructions: z.optional(z.string()),
  /** Absent: as the agent does by default. An agent without such a setting ignores it, and a warning says so. */
  summary: z.optional(ReasoningSummary),
  /** The tone of the agent, in its own words, where its model has no selector for it. */
  personality: z.optional(z.string()),
  budget: z.optional(Budget),
}));
export type ThreadSettings = z.output<typeof ThreadSettings>;

/** The current status of a thread. */
export const ThreadStatus = looseObject(() => ({
  type: z.enum(["notLoaded", "idle", "active"]),
  activeFlags: z.optional(z.array(z.enum(["waitingOnApproval", "waitingOnUserInput"]))),
}));
export type ThreadStatus = z.output<typeof ThreadStatus>;

/** The thread of a sub-agent, as the thread that has its log knows it. Times are unix seconds. */
export const ChildThread = looseObject({
  id: Id,
  /** The turn and the item of the call that started the sub-agent. */
  turnId: Id,
  itemId: Id,
  /** Set if another sub-agent started this one. */
  parentThreadId: z.optional(Id),
  name: z.optional(z.string()),
  preview: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
  status: z.enum(["inProgress", "completed", "failed", "declined"]),
  /** True if its turn was dropped from the conversation. */
  reverted: z.optional(z.boolean()),
});
export type ChildThread = z.output<typeof ChildThread>;

/** A conversation with an agent. Times are unix seconds. */
export const Thread = looseObject(() => ({
  id: Id,
  preview: z.string(),
  name: z.optional(z.string()),
  modelProvider: z.string(),
  model: z.string(),
  cwd: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
  archived: z.boolean(),
  ephemeral: z.boolean(),
  status: ThreadStatus,
  /** True if the latest turn failed. */
  lastTurnFailed: z.optional(z.boolean()),
  /** The usage limit of the account that the latest turn failed at. */
  usageLimit: z.optional(UsageLimit),
  /** The task that it works on. */
  taskId: z.optional(Id),
  /** Cost of its turns so far, as far as agents report it. */
  cost: z.optional(Cost),
  /** The limits of its settings. */
  budget: z.optional(Budget),
  forkedFromId: z.optional(z.string()),
  /** Set for the thread of a sub-agent: the thread whose agent started it. */
  parentThreadId: z.optional(Id),
  /** The threads of its sub-agents, and of theirs; the latest ones if there are many. */
  childThreads: z.optional(z.array(ChildThread)),
  /** The session of an agent that the latest turns are in, by the agent's own id. */
  nativeSession: z.optional(looseObject({ agent: z.string(), id: z.string() })),
  /** The `clientId` of the request that started it, and a digest of that request: repeated, it starts no second thread. */
  startedAs: z.optional(looseObject({ clientId: z.string(), digest: z.string() })),
}));
export type Thread = z.output<typeof Thread>;

/** One of an agent's own sessions on this machine. Times are unix seconds. */
export const NativeSession = looseObject(() => ({
  agent: z.string(),
  id: z.string(),
  cwd: z.string(),
  preview: z.string(),
  updatedAt: z.number(),
  /** The thread that it belongs to, if it was imported or started in Flint. */
  threadId: z.optional(Id),
}));
export type NativeSession = z.output<typeof NativeSession>;

/** The status of a goal. */
export const GoalStatus = z.enum([
  "active",
  "paused",
  "blocked",
  "usageLimited",
  "budgetLimited",
  "complete",
]);
export type GoalStatus = z.output<typeof GoalStatus>;

/** Progress of the turns that follow each other until the goal or a limit is reached. */
export const GoalPursuit = looseObject(() => ({
  /** Maximum number of turns that follow, and the number so far. */
  maxTurns: z.number(),
  turns: z.number(),
  maxSeconds: z.optional(z.number()),
  maxCostUsd: z.optional(z.number()),
  /** Cost of the thread before the pursuit. */
  costBefore: z.number(),
  /** The command that succeeds once the goal is reached. Without it, the agent says when it is. */
  check: z.optional(z.string()),
}));
export type GoalPursuit = z.output<typeof GoalPursuit>;

/** The goal that the user set for a thread, and its usage so far. Times are unix seconds. */
export const Goal = looseObject(() => ({
  objective: z.string(),
  status: GoalStatus,
  /** The reason for this status, if Flint set it. */
  reason: z.optional(z.string()),
  pursuit: z.optional(GoalPursuit),
  tokenBudget: z.optional(z.number()),
  tokensUsed: z.number(),
  timeUsedSeconds: z.number(),
  createdAt: z.number(),
  updatedAt: z.number(),
}));
export type Goal = z.output<typeof Goal>;
