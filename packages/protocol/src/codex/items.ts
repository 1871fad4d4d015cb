import * as z from "zod/mini";
import { foreignObject, nullish } from "../wire/loose-object.ts";
import { CodexShownInput } from "./values.ts";

/** One file of a change. A new or deleted file has its whole text as `diff`, a changed one the hunks without a header. */
export const CodexFileChange = foreignObject({
  path: z.string(),
  kind: foreignObject({ type: z.string(), move_path: nullish(z.string()) }),
  diff: z.string(),
});
export type CodexFileChange = z.output<typeof CodexFileChange>;

/** The effect of a part of a command, as far as Codex can classify it. */
export const CodexCommandAction = foreignObject({
  ...{ type: z.string(), command: z.string(), name: z.optional(z.string()) },
  ...{ path: nullish(z.string()), query: nullish(z.string()) },
});
export type CodexCommandAction = z.output<typeof CodexCommandAction>;

const id = z.string();
const durationMs = nullish(z.number());

/** Every item type of Codex that Flint translates; any other one is passed through as it is. */
export const CODEX_ITEMS = {
  userMessage: foreignObject({
    type: z.literal("userMessage"),
    id,
    clientId: nullish(z.string()),
    content: z.array(CodexShownInput),
  }),
  agentMessage: foreignObject({
    type: z.literal("agentMessage"),
    id,
    text: z.string(),
    phase: nullish(z.string()),
    memoryCitation: z.optional(z.unknown()),
    delivery: z.optional(z.unknown()),
    questions: z.optional(z.unknown()),
  }),
  reasoning: foreignObject({
    type: z.literal("reasoning"),
    id,
    summary: z.array(z.string()),
    content: z.array(z.string()),
  }),
  plan: foreignObject({ type: z.literal("plan"), id, text: z.string() }),
  commandExecution: foreignObject({
    type: z.literal("commandExecution"),
    id,
    command: z.string(),
    cwd: z.string(),
    status: z.string(),
    pluginId: nullish(z.string()),
    scriptPath: nullish(z.string()),
    processId: nullish(z.string()),
    source: z.optional(z.string()),
    commandActions: z.optional(z.array(CodexCommandAction)),
    aggregatedOutput: nullish(z.string()),
    exitCode: nullish(z.number()),
    durationMs,
  }),
  fileChange: foreignObject({
    type: z.literal("fileChange"),
    id,
    changes: z.array(CodexFileChange),
    status: z.string(),
  }),
  mcpToolCall: foreignObject({
    type: z.literal("mcpToolCall"),
    id,
    server: z.string(),
    tool: z.string(),
    status: z.string(),
    arguments: z.optional(z.unknown()),
    appContext: z.optional(z.unknown()),
    mcpAppUi: z.optional(z.unknown()),
    pluginId: nullish(z.string()),
    readOnlyHint: nullish(z.boolean()),
    result: z.optional(z.unknown()),
    error: nullish(foreignObject({ message: z.string() })),
    durationMs,
  }),
  dynamicToolCall: foreignObject({
    type: z.literal("dynamicToolCall"),
    id,
    tool: z.string(),
    status: z.string(),
    arguments: z.optional(z.unknown()),
    namespace: nullish(z.string()),
    contentItems: z.optional(z.unknown()),
    success: nullish(z.boolean()),
    durationMs,
  }),
  collabAgentToolCall: foreignObject({
    type: z.literal("collabAgentToolCall"),
    id,
    tool: z.string(),
    status: z.string(),
    prompt: nullish(z.string()),
    receiverThreadIds: z.array(z.string()),
  }),
  subAgentActivity: foreignObject({
    type: z.literal("subAgentActivity"),
    id,
    kind: z.string(),
    agentThreadId: z.string(),
    agentPath: z.string(),
    model: nullish(z.string()),
  }),
  webSearch: foreignObject({
    type: z.literal("webSearch"),
    id,
    query: z.string(),
    action: z.optional(z.unknown()),
  }),
  enteredReviewMode: foreignObject({ type: z.literal("enteredReviewMode"), id, review: z.string() }),
  exitedReviewMode: foreignObject({ type: z.literal("exitedReviewMode"), id, review: z.string() }),
  contextCompaction: foreignObject({ type: z.literal("contextCompaction"), id }),
} as const;

/** The name of an item type of Codex that Flint translates. */
export type CodexItemType = keyof typeof CODEX_ITEMS;
/** An item of Codex by its type. */
export type CodexItem<Type extends CodexItemType = CodexItemType> = {
  [Name in Type]: z.output<(typeof CODEX_ITEMS)[Name]>;
}[Type];

/** Times at which an item began and ended, in unix milliseconds. */
export const CodexItemTimes = foreignObject({
  startedAtMs: nullish(z.number()),
  completedAtMs: nullish(z.number()),
});
export type CodexItemTimes = z.output<typeof CodexItemTimes>;

/** An item of any type, known or not. */
export const CodexAnyItem = foreignObject({ type: z.string(), id });
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

/** Any schema of this wire. */
export type CodexSchema = z.ZodMiniType;

/** A field that Flint writes or reads. */
export interface CodexField {
  readonly name: string;
  /** True if it may be absent. */
  readonly isOptional: boolean;
}

/** The fields that Flint knows of an object; none of anything else. */
export function fieldsOf(schema: CodexSchema): readonly CodexField[] {
  // The definition of an object has its fields here; other definitions have no such member.
  const { shape = {} } = schema._zod.def as { readonly shape?: Readonly<Record<string, CodexSchema>> };
  return Object.entries(shape).map(([name, field]) => ({
    name,
    isOptional: field._zod.def.type === "optional",
  }));
}
