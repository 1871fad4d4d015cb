import * as z from "zod/mini";
import { loose, maybe } from "../shape.ts";
import { CodexShownInput } from "./values.ts";

/** One file of a change. A new or deleted file has its whole text as `diff`, a changed one the hunks without a header. */
export const CodexFileChange = loose({
  path: z.string(),
  kind: loose({ type: z.string(), move_path: maybe(z.string()) }),
  diff: z.string(),
});
export type CodexFileChange = z.output<typeof CodexFileChange>;

/** What a part of a command does, as far as Codex can tell. */
export const CodexCommandAction = loose({ type: z.string(), command: z.string() });

const id = z.string();
const durationMs = maybe(z.number());

/** Every item type of Codex that means something to Flint; any other one is kept as it is. */
export const CODEX_ITEMS = {
  userMessage: loose({
    type: z.literal("userMessage"),
    id,
    clientId: maybe(z.string()),
    content: z.array(CodexShownInput),
  }),
  agentMessage: loose({
    type: z.literal("agentMessage"),
    id,
    text: z.string(),
    phase: maybe(z.string()),
    memoryCitation: z.optional(z.unknown()),
    delivery: z.optional(z.unknown()),
    questions: z.optional(z.unknown()),
  }),
  reasoning: loose({
    type: z.literal("reasoning"),
    id,
    summary: z.array(z.string()),
    content: z.array(z.string()),
  }),
  plan: loose({ type: z.literal("plan"), id, text: z.string() }),
  commandExecution: loose({
    type: z.literal("commandExecution"),
    id,
    command: z.string(),
    cwd: z.string(),
    status: z.string(),
    pluginId: maybe(z.string()),
    scriptPath: maybe(z.string()),
    processId: maybe(z.string()),
    source: z.optional(z.string()),
    commandActions: z.optional(z.array(CodexCommandAction)),
    aggregatedOutput: maybe(z.string()),
    exitCode: maybe(z.number()),
    durationMs,
  }),
  fileChange: loose({
    type: z.literal("fileChange"),
    id,
    changes: z.array(CodexFileChange),
    status: z.string(),
  }),
  mcpToolCall: loose({
    type: z.literal("mcpToolCall"),
    id,
    server: z.string(),
    tool: z.string(),
    status: z.string(),
    arguments: z.optional(z.unknown()),
    appContext: z.optional(z.unknown()),
    mcpAppUi: z.optional(z.unknown()),
    pluginId: maybe(z.string()),
    readOnlyHint: maybe(z.boolean()),
    result: z.optional(z.unknown()),
    error: maybe(loose({ message: z.string() })),
    durationMs,
  }),
  dynamicToolCall: loose({
    type: z.literal("dynamicToolCall"),
    id,
    tool: z.string(),
    status: z.string(),
    arguments: z.optional(z.unknown()),
    namespace: maybe(z.string()),
    contentItems: z.optional(z.unknown()),
    success: maybe(z.boolean()),
    durationMs,
  }),
  collabAgentToolCall: loose({
    type: z.literal("collabAgentToolCall"),
    id,
    tool: z.string(),
    status: z.string(),
    prompt: maybe(z.string()),
    receiverThreadIds: z.array(z.string()),
  }),
  webSearch: loose({
    type: z.literal("webSearch"),
    id,
    query: z.string(),
    action: z.optional(z.unknown()),
  }),
  enteredReviewMode: loose({ type: z.literal("enteredReviewMode"), id, review: z.string() }),
  exitedReviewMode: loose({ type: z.literal("exitedReviewMode"), id, review: z.string() }),
  contextCompaction: loose({ type: z.literal("contextCompaction"), id }),
} as const;

/** The name of an item type of Codex that means something to Flint. */
export type CodexItemType = keyof typeof CODEX_ITEMS;
/** An item of Codex by its type. */
export type CodexItem<Type extends CodexItemType = CodexItemType> = {
  [Name in Type]: z.output<(typeof CODEX_ITEMS)[Name]>;
}[Type];

/** When an item began and ended, in unix milliseconds. */
export const CodexItemTimes = loose({ startedAtMs: maybe(z.number()), completedAtMs: maybe(z.number()) });
export type CodexItemTimes = z.output<typeof CodexItemTimes>;

/** An item of any type, known or not. */
export const CodexAnyItem = loose({ type: z.string(), id });
export type CodexAnyItem = z.output<typeof CodexAnyItem>;

/** Reads an item of a known type; undefined if its type is unknown or its shape is not the one we know. */
export function readCodexItem(item: CodexAnyItem): CodexItem | undefined {
  if (!isCodexItemType(item.type)) return undefined;
  const read = CODEX_ITEMS[item.type].safeParse(item);
  return read.success ? read.data : undefined;
}

function isCodexItemType(type: string): type is CodexItemType {
  return Object.hasOwn(CODEX_ITEMS, type);
}
