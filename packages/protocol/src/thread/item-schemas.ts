import * as z from "zod/mini";
import { Id } from "../wire/ids.ts";
import { looseObject } from "../wire/loose-object.ts";
import { UserInput } from "./input.ts";

const WorkStatus = z.enum(["inProgress", "completed", "failed", "declined"]);

const CallStatus = z.enum(["inProgress", "completed", "failed"]);

/** One file that an agent adds, modifies or deletes. `movePath` is where a modified file goes when it is renamed. */
export const FileUpdateChange = looseObject(() => ({
  path: z.string(),
  kind: z.enum(["add", "modify", "delete"]),
  diff: z.string(),
  movePath: z.optional(z.string()),
}));

export type FileUpdateChange = z.output<typeof FileUpdateChange>;

/** The priority of a step of a plan. */
export const PlanPriority = z.enum(["high", "medium", "low"]);

export type PlanPriority = z.output<typeof PlanPriority>;

/** One step of a plan; its priority only if the agent reports one. */
export const PlanEntry = looseObject(() => ({
  step: z.string(),
  status: z.enum(["pending", "inProgress", "completed", "failed"]),
  priority: z.optional(PlanPriority),
}));

export type PlanEntry = z.output<typeof PlanEntry>;

/** The priority that an agent reports for a step, as a field of its entry; empty if it is unknown. */
export function priorityOf(given: unknown): Pick<PlanEntry, "priority"> {
  const parsed = PlanPriority.safeParse(given);
  return parsed.success ? { priority: parsed.data } : {};
}

/** The effect of a part of a command, as far as its words show; `path` as it is written in the command. */
export const CommandAction = z.discriminatedUnion("type", [
  looseObject(() => ({ type: z.literal("read"), command: z.string(), name: z.string(), path: z.string() })),
  looseObject(() => ({ type: z.literal("listFiles"), command: z.string(), path: z.optional(z.string()) })),
  looseObject(() => ({
    ...{ type: z.literal("search"), command: z.string() },
    ...{ query: z.optional(z.string()), path: z.optional(z.string()) },
  })),
  looseObject(() => ({ type: z.literal("unknown"), command: z.string() })),
]);

export type CommandAction = z.output<typeof CommandAction>;

/**
 * The reason an action was allowed: by a rule of the policy file, a grant of the user, a setting, or an
 * answer to a request.
 */
export const Allowance = looseObject(() => ({
  by: z.enum(["policyFile", "grant", "setting", "client"]),
  /** Names the rule, the grant or the setting, as a sentence. */
  reason: z.string(),
}));

export type Allowance = z.output<typeof Allowance>;

/** Set once Flint has decided about it. Absent: it was declined, or its agent did not ask. */
const allowed = z.optional(Allowance);

/** The fields of every item. An item of a sub-agent names the tool call that started the sub-agent. */
const common = { id: Id, parentItemId: z.optional(Id) };

/** The shape of `userMessage` items. */
export const UserMessage = looseObject(() => ({
  type: z.literal("userMessage"),
  ...common,
  clientId: z.optional(z.string()),
  /** The name of the client that sent it, as it gave it. */
  client: z.optional(z.string()),
  content: z.array(UserInput),
}));

/** Set on an item whose turn ended before it completed: it has no more text than this. */
export const partial = z.optional(z.boolean());

/** The shape of `agentMessage` items. */
export const AgentMessage = looseObject(() => ({
  type: z.literal("agentMessage"),
  ...common,
  text: z.string(),
  partial,
}));

/** The shape of `subAgentMessage` items. */
export const SubAgentMessage = looseObject(() => ({
  type: z.literal("subAgentMessage"),
  ...common,
  text: z.string(),
}));

/** The shape of `reasoning` items. */
export const Reasoning = looseObject(() => ({
  type: z.literal("reasoning"),
  ...common,
  summary: z.optional(z.string()),
  content: z.optional(z.string()),
  partial,
}));

/** The shape of `commandExecution` items. */
export const CommandExecution = looseObject(() => ({
  type: z.literal("commandExecution"),
  ...common,
  allowed,
  command: z.string(),
  cwd: z.string(),
  source: z.optional(z.enum(["agent", "userShell"])),
  status: WorkStatus,
  /** The effects of its parts, in order. Absent if they are not certain. */
  commandActions: z.optional(z.array(CommandAction)),
  exitCode: z.optional(z.number()),
  aggregatedOutput: z.optional(z.string()),
  omittedOutputBytes: z.optional(z.number()),
  durationMs: z.optional(z.number()),
  /** The hosts that it wanted to connect to, and whether it was allowed to. */
  connections: z.optional(
    z.array(
      looseObject({
        ...{ host: z.string(), port: z.number(), allowed: z.boolean() },
        /** The reason it was refused or could not be reached. */
        reason: z.optional(z.string()),
      }),
    ),
  ),
  /** Sentences on what the sandbox denied it, unless its output says so. */
  denials: z.optional(z.array(z.string())),
}));

/** The shape of `fileChange` items. */
export const FileChange = looseObject(() => ({
  type: z.literal("fileChange"),
  ...common,
  allowed,
  changes: z.array(FileUpdateChange),
  status: WorkStatus,
  output: z.optional(z.string()),
}));

/** The shape of `mcpToolCall` items. */
export const McpToolCall = looseObject(() => ({
  type: z.literal("mcpToolCall"),
  ...common,
  allowed,
  server: z.string(),
  tool: z.string(),
  arguments: z.optional(z.record(z.string(), z.unknown())),
  status: CallStatus,
  result: z.optional(z.unknown()),
  error: z.optional(z.string()),
  durationMs: z.optional(z.number()),
}));

/** The shape of `toolCall` items. */
export const ToolCall = looseObject(() => ({
  type: z.literal("toolCall"),
  ...common,
  allowed,
  tool: z.string(),
  title: z.optional(z.string()),
  /** The sub-agent that the call started; its items name this one as `parentItemId`. */
  subAgent: z.optional(
    looseObject({
      ...{ prompt: z.optional(z.string()), kind: z.optional(z.string()) },
      /** The thread that shows its work alone: clients can read it and attach to it. */
      threadId: z.optional(Id),
    }),
  ),
  arguments: z.optional(z.unknown()),
  status: WorkStatus,
  result: z.optional(z.unknown()),
  error: z.optional(z.string()),
  durationMs: z.optional(z.number()),
}));

/** The shape of `webSearch` items. */
export const WebSearch = looseObject(() => ({ type: z.literal("webSearch"), ...common, query: z.string() }));

/** The shape of `plan` items. */
export const Plan = looseObject(() => ({
  type: z.literal("plan"),
  ...common,
  text: z.string(),
  entries: z.optional(z.array(PlanEntry)),
  partial,
}));

/** The shape of `enteredReviewMode` items. */
export const EnteredReviewMode = looseObject(() => ({
  type: z.literal("enteredReviewMode"),
  ...common,
  review: z.string(),
}));

/** The shape of `exitedReviewMode` items. */
export const ExitedReviewMode = looseObject(() => ({
  type: z.literal("exitedReviewMode"),
  ...common,
  review: z.string(),
}));

/** The shape of `contextCompaction` items. */
export const ContextCompaction = looseObject(() => ({
  type: z.literal("contextCompaction"),
  ...common,
  summary: z.optional(z.string()),
}));

/** The shape of `agentHandoff` items. */
export const AgentHandoff = looseObject(() => ({
  type: z.literal("agentHandoff"),
  ...common,
  fromAgent: z.string(),
  toAgent: z.string(),
  /** The number of turns that the new agent got as a handoff summary, because it had no part in them. */
  missedTurns: z.number(),
}));

/** The shape of `hookRun` items. */
export const HookRun = looseObject(() => ({
  type: z.literal("hookRun"),
  ...common,
  /** The event at which it ran, by the agent's own name, such as `PreToolUse`. */
  event: z.string(),
  name: z.optional(z.string()),
  /** `blocked`: it kept the agent from continuing; `stopped`: it ended the turn. */
  status: z.enum(["inProgress", "completed", "failed", "blocked", "stopped"]),
  output: z.optional(z.string()),
  exitCode: z.optional(z.number()),
  durationMs: z.optional(z.number()),
}));
