import { type Item, type ItemType, isKnownItem, type ThreadItem } from "@flint/protocol";

/** What an item is told with beside itself. */
export interface ItemContext {
  /** The agent of the thread, which stands for the server where it calls a tool of its own. */
  readonly agent: string;
  /** How the agent's words are printed. */
  readonly answer: (text: string) => string;
}

interface Row<Type extends ItemType> {
  /** Whether it is told when it begins, or only when it is whole. */
  readonly told: "from its start" | "when whole";
  /** What it says; undefined is not told at all. */
  readonly body: (item: Item<Type>, context: ItemContext) => ExecItemBody | undefined;
}

const UNTOLD = { told: "when whole", body: () => undefined } as const;

/** What each item becomes. What Codex prints nothing about, nothing is printed about here. */
const ITEM_ROWS: { readonly [Type in ItemType]: Row<Type> } = {
  userMessage: UNTOLD,
  agentMessage: {
    told: "when whole",
    body: ({ text }, { answer }) => ({ type: "agent_message", text: answer(text) }),
  },
  reasoning: { told: "when whole", body: ({ summary, content }) => reasoningOf(summary, content) },
  commandExecution: { told: "from its start", body: commandOf },
  fileChange: { told: "from its start", body: fileChangeOf },
  mcpToolCall: { told: "from its start", body: (item) => callOf(item, item.server) },
  toolCall: { told: "from its start", body: (item, { agent }) => callOf(item, agent) },
  webSearch: {
    told: "from its start",
    body: ({ query }) => ({ type: "web_search", query, action: { type: "search", query } }),
  },
  // The steps of a plan come as the plan of the turn; only one in plain words is a thing of its own.
  plan: { told: "when whole", body: planOf },
  enteredReviewMode: UNTOLD,
  exitedReviewMode: UNTOLD,
  contextCompaction: UNTOLD,
  agentHandoff: UNTOLD,
};

/** What an item says here, or undefined if it is not told, or not told yet. */
export function bodyOf(
  item: ThreadItem,
  when: "started" | "completed",
  context: ItemContext,
): ExecItemBody | undefined {
  if (!isKnownItem(item)) return undefined;
  const row = rowOf(item.type);
  return when === "started" && row.told === "when whole" ? undefined : row.body(item, context);
}

function rowOf(type: ItemType): Row<ItemType> {
  // The row of a type takes the items of that type; the union cannot follow the lookup.
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

function fileChangeOf({ changes, status }: Item<"fileChange">): ExecItemBody {
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

/** What a tool gave back, in the shape of MCP; tools that are not of MCP give anything. */
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

/** How far a piece of work is. A file change is never `declined` here: Codex calls that failed. */
export type WorkState = "in_progress" | "completed" | "failed" | "declined";

/** What an item says beside its id, with the names that `codex exec --experimental-json` prints. */
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

/** An item as it is printed: its number in the run, then what it says. */
export type ExecItem = { readonly id: string } & ExecItemBody;

/** Tokens of the whole thread; input counts what came from and went to the cache, output what was thought. */
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
