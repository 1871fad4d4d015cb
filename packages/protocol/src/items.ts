import * as z from "zod/mini";
import {
  AgentHandoff,
  AgentMessage,
  CommandExecution,
  ContextCompaction,
  EnteredReviewMode,
  ExitedReviewMode,
  FileChange,
  HookRun,
  McpToolCall,
  Plan,
  Reasoning,
  SubAgentMessage,
  ToolCall,
  UserMessage,
  WebSearch,
} from "./thread/item-schemas.ts";
import { Id } from "./wire/ids.ts";
import { looseObject } from "./wire/loose-object.ts";

/**
 * The fate of an item whose turn ends first: its text is marked as partial; its status becomes that of
 * unapproved work, or failed; it fails in any case; or it stays as it is.
 */
type Ending = "partial" | "declinedOrFailed" | "failed" | "unchanged";

interface Row<Schema extends z.ZodMiniObject, End extends Ending> {
  readonly doc: string;
  readonly schema: Schema;
  /** The text field of the item that each delta event extends. */
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

/** Reports whether an item ends in this way if its turn ends first. */
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
