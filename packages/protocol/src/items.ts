import * as z from "zod/mini";
import { UserInput } from "./thread/input.ts";
import { Id } from "./wire/ids.ts";
import { looseObject } from "./wire/loose-object.ts";

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

/** What a part of a command does, as far as its words show; `path` as it is written in the command. */
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

/** Why an action was allowed: by a rule of the policy file, a grant of the user, a setting, or an answer to a request. */
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

const UserMessage = looseObject(() => ({
  type: z.literal("userMessage"),
  ...common,
  clientId: z.optional(z.string()),
  /** What the client that sent it calls itself. */
  client: z.optional(z.string()),
  content: z.array(UserInput),
}));
/** Set on an item whose turn ended before it completed: it has no more text than this. */
const partial = z.optional(z.boolean());
const AgentMessage = looseObject(() => ({
  type: z.literal("agentMessage"),
  ...common,
  text: z.string(),
  partial,
}));
const SubAgentMessage = looseObject(() => ({
  type: z.literal("subAgentMessage"),
  ...common,
  text: z.string(),
}));
const Reasoning = looseObject(() => ({
  type: z.literal("reasoning"),
  ...common,
  summary: z.optional(z.string()),
  content: z.optional(z.string()),
  partial,
}));
const CommandExecution = looseObject(() => ({
  type: z.literal("commandExecution"),
  ...common,
  allowed,
  command: z.string(),
  cwd: z.string(),
  source: z.optional(z.enum(["agent", "userShell"])),
  status: WorkStatus,
  /** What it does, in the order of its parts. Absent: that is not certain. */
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
        /** Why it was refused or could not be reached. */
        reason: z.optional(z.string()),
      }),
    ),
  ),
  /** What the sandbox kept it from, as sentences, unless its output says so. */
  denials: z.optional(z.array(z.string())),
}));
const FileChange = looseObject(() => ({
  type: z.literal("fileChange"),
  ...common,
  allowed,
  changes: z.array(FileUpdateChange),
  status: WorkStatus,
  output: z.optional(z.string()),
}));
const McpToolCall = looseObject(() => ({
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
const ToolCall = looseObject(() => ({
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
const WebSearch = looseObject(() => ({ type: z.literal("webSearch"), ...common, query: z.string() }));
const Plan = looseObject(() => ({
  type: z.literal("plan"),
  ...common,
  text: z.string(),
  entries: z.optional(z.array(PlanEntry)),
  partial,
}));
const EnteredReviewMode = looseObject(() => ({
  type: z.literal("enteredReviewMode"),
  ...common,
  review: z.string(),
}));
const ExitedReviewMode = looseObject(() => ({
  type: z.literal("exitedReviewMode"),
  ...common,
  review: z.string(),
}));
const ContextCompaction = looseObject(() => ({
  type: z.literal("contextCompaction"),
  ...common,
  summary: z.optional(z.string()),
}));

const AgentHandoff = looseObject(() => ({
  type: z.literal("agentHandoff"),
  ...common,
  fromAgent: z.string(),
  toAgent: z.string(),
  /** The number of turns that the new agent got as a handoff summary, because it had no part in them. */
  missedTurns: z.number(),
}));
const HookRun = looseObject(() => ({
  type: z.literal("hookRun"),
  ...common,
  /** When it ran, by the agent's own name for that, such as `PreToolUse`. */
  event: z.string(),
  name: z.optional(z.string()),
  /** `blocked`: it kept the agent from going on; `stopped`: it ended the turn. */
  status: z.enum(["inProgress", "completed", "failed", "blocked", "stopped"]),
  output: z.optional(z.string()),
  exitCode: z.optional(z.number()),
  durationMs: z.optional(z.number()),
}));

/**
 * What becomes of an item whose turn ends first: its text is marked as partial; its status is that of work that was not
 * approved, or failed; it has failed in any case; or it stays as it is.
 */
type Ending = "partial" | "declinedOrFailed" | "failed" | "unchanged";

interface Row<Schema extends z.ZodMiniObject, End extends Ending> {
  readonly doc: string;
  readonly schema: Schema;
  /** Which text field of the item each delta event extends. */
  readonly deltas?: Readonly<Record<string, string>>;
  readonly ending: End;
  /** The fields with an agent's text that may be of any length; the core bounds them. */
  readonly longFields: readonly (keyof Schema["shape"] & string)[];
}

function row<Schema extends z.ZodMiniObject, const End extends Ending>({
  deltas = {},
  ...more
}: Row<Schema, End>) {
  return { deltas, ...more };
}

/** The rest of the row of an item that is complete when it starts. */
const SHORT = { ending: "unchanged", longFields: [] } as const;

/** Every item type that Flint knows, its schema, the delta events that extend it, and what bounds and ends it. */
export const ITEMS = {
  userMessage: row({
    doc: "A message of the user, at the start of a turn or to steer it.",
    schema: UserMessage,
    ...SHORT,
  }),
  agentMessage: row({
    doc: "A message of the agent.",
    schema: AgentMessage,
    deltas: { "item/agentMessage/delta": "text" },
    ending: "partial",
    longFields: ["text"],
  }),
  subAgentMessage: row({
    doc: "A message of a sub-agent to the agent that started it.",
    schema: SubAgentMessage,
    ending: "unchanged",
    longFields: ["text"],
  }),
  reasoning: row({
    doc: "The reasoning of the agent, in full or as a summary.",
    schema: Reasoning,
    deltas: {
      "item/reasoning/textDelta": "content",
      "item/reasoning/summaryTextDelta": "summary",
    },
    ending: "partial",
    longFields: ["content", "summary"],
  }),
  commandExecution: row({
    doc: "A command that the agent runs or asks to run.",
    schema: CommandExecution,
    deltas: { "item/commandExecution/outputDelta": "aggregatedOutput" },
    ending: "declinedOrFailed",
    longFields: ["aggregatedOutput"],
  }),
  fileChange: row({
    doc: "Files that the agent adds, modifies or deletes.",
    schema: FileChange,
    deltas: { "item/fileChange/outputDelta": "output" },
    ending: "declinedOrFailed",
    longFields: ["output"],
  }),
  mcpToolCall: row({
    doc: "A call of a tool on an MCP server.",
    schema: McpToolCall,
    ending: "failed",
    longFields: ["error"],
  }),
  toolCall: row({
    doc: "A call of any other tool of the agent.",
    schema: ToolCall,
    ending: "declinedOrFailed",
    longFields: ["error"],
  }),
  webSearch: row({ doc: "A search of the web.", schema: WebSearch, ...SHORT }),
  plan: row({
    doc: "The agent's plan.",
    schema: Plan,
    deltas: { "item/plan/delta": "text" },
    ending: "partial",
    longFields: ["text"],
  }),
  enteredReviewMode: row({ doc: "A review started.", schema: EnteredReviewMode, ...SHORT }),
  exitedReviewMode: row({ doc: "A review ended; `review` is its text.", schema: ExitedReviewMode, ...SHORT }),
  contextCompaction: row({
    doc: "The context was summarised to free space.",
    schema: ContextCompaction,
    ...SHORT,
  }),
  agentHandoff: row({
    doc: "Another agent continues the thread from here.",
    schema: AgentHandoff,
    ...SHORT,
  }),
  hookRun: row({
    doc: "A hook of the agent that ran: a program that the user configured for an event.",
    schema: HookRun,
    ending: "failed",
    longFields: ["output"],
  }),
} as const;

/** The name of a known item type. */
export type ItemType = keyof typeof ITEMS;

/** An item of a known type. */
export const KnownItem = z.discriminatedUnion("type", [
  UserMessage,
  AgentMessage,
  SubAgentMessage,
  Reasoning,
  CommandExecution,
  FileChange,
  McpToolCall,
  ToolCall,
  WebSearch,
  Plan,
  EnteredReviewMode,
  ExitedReviewMode,
  ContextCompaction,
  AgentHandoff,
  HookRun,
]);
export type KnownItem = z.output<typeof KnownItem>;

/** One known item by its type. */
export type Item<Type extends ItemType> = Extract<KnownItem, { type: Type }>;

/** The items that end in one way if their turn ends first. */
export type ItemEnding<End extends Ending> = {
  [Type in ItemType]: (typeof ITEMS)[Type]["ending"] extends End ? Item<Type> : never;
}[ItemType];

/** Whether an item ends in this way if its turn ends first. */
export function hasEnding<End extends Ending>(item: KnownItem, ending: End): item is ItemEnding<End> {
  return ITEMS[item.type].ending === ending;
}

/** An item of a type that only the agent knows; clients show its id and any text it has. */
export const ExtensionItem = looseObject(() => ({
  type: z
    .string()
    .check(z.refine((type) => !Object.hasOwn(ITEMS, type), "is a known type with a wrong shape")),
  id: Id,
}));
export type ExtensionItem = z.output<typeof ExtensionItem>;

/** Any item. The union is open: an unknown type is not an error. */
export const ThreadItem = z.union([KnownItem, ExtensionItem]);
export type ThreadItem = KnownItem | ExtensionItem;

/** Narrows an item to a known one, so that a switch over its type can be exhaustive. */
export function isKnownItem(item: ThreadItem): item is KnownItem {
  return Object.hasOwn(ITEMS, item.type);
}

/** For each delta event, the text field that it extends. */
export const DELTA_FIELDS: ReadonlyMap<string, string> = new Map(
  Object.values(ITEMS).flatMap((item) => Object.entries<string>(item.deltas)),
);
