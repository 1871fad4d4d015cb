import type { DriverEvent, TurnContext } from "@flint/core/ports";
import type { Action, Answers, Decision, Item, ThreadSettings, UserQuestion } from "@flint/protocol";
import type { Tool, ToolOutcome } from "../../tools/tool.ts";
import type { McpServers } from "../mcp-servers.ts";

/** How the user of a test behaves. */
export interface WriteOptions {
  readonly decide?: () => Decision;
  readonly answer?: (questions: readonly UserQuestion[]) => Answers;
  /** Called for every event. */
  readonly onEvent?: (event: DriverEvent) => void;
  readonly signal?: AbortSignal;
}

/** The outcome of a call, with all its events and questions. */
export interface Called {
  readonly outcome: ToolOutcome;
  readonly events: readonly DriverEvent[];
  readonly actions: readonly Action[];
  readonly questions: readonly (readonly UserQuestion[])[];
  readonly item: Item<"mcpToolCall"> | undefined;
}

const SETTINGS: ThreadSettings = {
  model: "flint/offline",
  cwd: "/",
  approvalPolicy: "always",
  sandboxPolicy: { type: "readOnly" },
  config: {},
};

const NEVER = new AbortController().signal;

/** The current tools by name. */
export async function toolsOf(servers: McpServers): Promise<ReadonlyMap<string, Tool>> {
  const tools = await servers.tools(NEVER);
  return new Map(tools.map((tool) => [tool.name, tool]));
}

/** Calls a tool as a turn of the agent does. */
export async function call(
  servers: McpServers,
  name: string,
  input: Readonly<Record<string, unknown>> = {},
  options: WriteOptions = {},
): Promise<Called> {
  const tools = await toolsOf(servers);
  const tool = tools.get(name);
  if (tool === undefined) throw new Error(`There is no tool ${name}, only ${[...tools.keys()].join(", ")}.`);
  return callTool(tool, input, options);
}

/** Calls this very tool. */
export async function callTool(
  tool: Tool,
  input: Readonly<Record<string, unknown>> = {},
  options: WriteOptions = {},
): Promise<Called> {
  const events: DriverEvent[] = [];
  const actions: Action[] = [];
  const questions: (readonly UserQuestion[])[] = [];
  const { signal = NEVER } = options;
  const turn: TurnContext = {
    ...{ turnId: "turn", kind: "prompt", input: [], review: undefined, outputSchema: undefined },
    ...{ settings: SETTINGS, signal, ready: async () => undefined },
    emit: (event) => {
      events.push(event);
      options.onEvent?.(event);
    },
    approve: async (action) => {
      actions.push(action);
      return options.decide?.() ?? { outcome: "allow", scope: "once" };
    },
    ask: async (_itemId, asked) => {
      questions.push(asked);
      return options.answer?.(asked) ?? {};
    },
    callTool: unused,
  };
  const sandbox = { state: unused, launch: unused, start: unused };
  const outcome = await tool.run(input, { turn, signal, sandbox, itemId: "item-1" });
  const last = events.findLast((event) => event.type === "item/completed");
  const item = last?.type === "item/completed" ? last.item : undefined;
  return { outcome, events, actions, questions, item: isCall(item) ? item : undefined };
}

/** The text for the model. */
export function textOf({ outcome }: Called): string {
  return "result" in outcome ? outcome.result.text : outcome.ended.status;
}

function isCall(item: unknown): item is Item<"mcpToolCall"> {
  return typeof item === "object" && item !== null && "type" in item && item.type === "mcpToolCall";
}

function unused(): Promise<never> {
  return Promise.reject(new Error("A call of an MCP tool starts nothing."));
}
