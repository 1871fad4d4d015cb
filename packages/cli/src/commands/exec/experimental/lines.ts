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
