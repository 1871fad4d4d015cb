import { type Item, type ItemType, isKnownItem, type ThreadItem } from "@flint/protocol";

/** Dependencies of printing items. */
export interface ItemContext {
  /** The agent of the thread, which is printed as the server of its own tools. */
  readonly agent: string;
  /** Formats the agent's messages. */
  readonly answer: (text: string) => string;
}

interface Row<Type extends ItemType> {
  /** The moment from which it is printed: its start, or its completion. */
  readonly printed: "from its start" | "when completed";
  /** Its content; undefined if it is not printed. */
  readonly body: (item: Item<Type>, context: ItemContext) => ExecItemBody | undefined;
}

const NOT_PRINTED = { printed: "when completed", body: () => undefined } as const;

/** The printing of each item type. Types that Codex does not print are not printed here. */
const ITEM_ROWS: { readonly [Type in ItemType]: Row<Type> } = {
  userMessage: NOT_PRINTED,
  agentMessage: {
    printed: "when completed",
    body: ({ text }, { answer }) => ({ type: "agent_message", text: answer(text) }),
  },
  reasoning: { printed: "when completed", body: ({ summary, content }) => reasoningOf(summary, content) },
  commandExecution: { printed: "from its start", body: commandOf },
  fileChange: { printed: "from its start", body: fileChangeOf },
  mcpToolCall: { printed: "from its start", body: (item) => callOf(item, item.server) },
  toolCall: { printed: "from its start", body: (item, { agent }) => callOf(item, agent) },
  webSearch: {
    printed: "from its start",
    body: ({ query }) => ({ type: "web_search", query, action: { type: "search", query } }),
  },
  // The steps of a plan are printed as the turn's to-do list; only a plan in prose is an item.
  plan: { printed: "when completed", body: planOf },
  enteredReviewMode: NOT_PRINTED,
  exitedReviewMode: NOT_PRINTED,
  contextCompaction: NOT_PRINTED,
  agentHandoff: NOT_PRINTED,
  subAgentMessage: NOT_PRINTED,
  hookRun: NOT_PRINTED,
};

/** The printed content of an item; undefined if it is not printed, or not yet. */
export function bodyOf(
  item: ThreadItem,
  when: "started" | "completed",
  context: ItemContext,
): ExecItemBody | undefined {
  if (!isKnownItem(item)) return undefined;
  const row = rowOf(item.type);
  return when === "started" && row.printed === "when completed" ? undefined : row.body(item, context);
}

function rowOf(type: ItemType): Row<ItemType> {
  // Each row takes the items of its own type, which TypeScript cannot follow through the lookup.
  return ITEM_ROWS[type] as Row<ItemType>;
}

function reasoningOf(summary = "", content = ""): ExecItemBody | undefined {
  const text = summary.trim() === "" ? content : summary;
  return text.trim() === "" ? undefined : { type: "reasoning", text };
}

function planOf({ text, entries = [] }: Item<"plan">): ExecItemBody | undefined {
  return entries.length > 0 || text.trim() === "" ? undefined : { type: "agent_message", text };
}

function commandOf({ command, aggregatedOutput, exitCode, status }: Item<"commandExecution">): ExecItemBody {
  return {
    type: "command_execution",
    command,
    aggregated_output: aggregatedOutput ?? "",
    exit_code: exitCode ?? null,
    status: STATES[status],
  };
}

const KINDS = { add: "add", modify: "update", delete: "delete" } as const;

/** Not before its changes are known. */
function fileChangeOf({ changes, status }: Item<"fileChange">): ExecItemBody | undefined {
  if (changes.length === 0 && status === "inProgress") return undefined;
  return {
    type: "file_change",
    changes: changes.map(({ path, kind }) => ({ path, kind: KINDS[kind] })),
    status: withoutDeclined(status),
  };
}

function callOf(item: Item<"mcpToolCall"> | Item<"toolCall">, server: string): ExecItemBody {
  const { tool, status, result, error } = item;
  return {
    type: "mcp_tool_call",
    server,
    tool,
    arguments: item.arguments ?? null,
    result: error === undefined ? resultOf(result) : null,
    error: error === undefined ? null : { message: error },
    status: withoutDeclined(status),
  };
}

type ToolResult = Extract<ExecItemBody, { type: "mcp_tool_call" }>["result"];

/** The result of a tool in the shape of MCP; other tools return anything. */
function resultOf(result: unknown): ToolResult {
  if (result === undefined || result === null) return null;
  if (typeof result === "object" && "content" in result && Array.isArray(result.content)) {
    const structured = "structuredContent" in result ? result.structuredContent : undefined;
    return { content: result.content, structured_content: structured ?? null };
  }
  const text = typeof result === "string" ? result : JSON.stringify(result);
  return { content: [{ type: "text", text }], structured_content: null };
}

const STATES = {
  inProgress: "in_progress",
  completed: "completed",
  failed: "failed",
  declined: "declined",
} as const satisfies Readonly<Record<string, WorkState>>;

function withoutDeclined(status: keyof typeof STATES): WorkState {
  return status === "declined" ? "failed" : STATES[status];
}

/** The status of an item. A file change is never `declined`: Codex reports that as failed. */
export type WorkState = "in_progress" | "completed" | "failed" | "declined";

/** The fields of an item, besides its id, that `codex exec --experimental-json` prints. */
export type ExecItemBody =
  | { readonly type: "agent_message" | "reasoning"; readonly text: string }
  | {
      readonly type: "command_execution";
      readonly command: string;
      readonly aggregated_output: string;
      readonly exit_code: number | null;
      readonly status: WorkState;
    }
  | {
      readonly type: "file_change";
      readonly changes: readonly { readonly path: string; readonly kind: "add" | "delete" | "update" }[];
      readonly status: WorkState;
    }
  | {
      readonly type: "mcp_tool_call";
      readonly server: string;
      readonly tool: string;
      readonly arguments: unknown;
      readonly result: { readonly content: readonly unknown[]; readonly structured_content: unknown } | null;
      readonly error: { readonly message: string } | null;
      readonly status: WorkState;
    }
  | {
      readonly type: "web_search";
      readonly query: string;
      readonly action: { readonly type: "search"; readonly query: string };
    }
  | { readonly type: "todo_list"; readonly items: readonly TodoItem[] }
  | { readonly type: "error"; readonly message: string };

/** One entry of a to-do list. */
export type TodoItem = { readonly text: string; readonly completed: boolean };

/** An item as it is printed, with its number in the run as id. */
export type ExecItem = { readonly id: string } & ExecItemBody;

/** Tokens of the whole thread; input includes cached tokens, output includes reasoning. */
export interface ExecUsage {
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_write_input_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_output_tokens: number;
}

/** One line of `codex exec --experimental-json`, as version 0.166.0 prints it. */
export type ExecLine =
  | { readonly type: "thread.started"; readonly thread_id: string }
  | { readonly type: "turn.started" }
  | { readonly type: "item.started" | "item.updated" | "item.completed"; readonly item: ExecItem }
  | { readonly type: "turn.completed"; readonly usage: ExecUsage }
  | { readonly type: "turn.failed"; readonly error: { readonly message: string } }
  | { readonly type: "error"; readonly message: string };
