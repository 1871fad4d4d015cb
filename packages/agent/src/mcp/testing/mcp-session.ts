import type { DriverEvent } from "@flint/core/ports";
import type { Action, Item, UserQuestion } from "@flint/protocol";
import { RecordedTurn, settingsIn, type TurnOptions } from "../../testing/recorded-turn.ts";
import type { Tool, ToolOutcome } from "../../tools/tool.ts";
import type { McpServers } from "../mcp-servers.ts";

/** The outcome of a call, with all its events and questions. */
export interface Called {
  readonly outcome: ToolOutcome;
  readonly events: readonly DriverEvent[];
  readonly actions: readonly Action[];
  readonly questions: readonly (readonly UserQuestion[])[];
  readonly item: Item<"mcpToolCall"> | undefined;
}

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
  options: TurnOptions = {},
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
  options: TurnOptions = {},
): Promise<Called> {
  const turn = new RecordedTurn("", settingsIn("/"), options);
  const { signal, events, actions, questions } = turn;
  const sandbox = { state: unused, launch: unused, start: unused };
  const outcome = await tool.run(input, { turn, signal, sandbox, itemId: "item-1" });
  return { outcome, events, actions, questions, item: turn.completed("mcpToolCall").at(-1) };
}

/** The text for the model. */
export function textOf({ outcome }: Called): string {
  return "result" in outcome ? outcome.result.text : outcome.ended.status;
}

function unused(): Promise<never> {
  return Promise.reject(new Error("A call of an MCP tool starts nothing."));
}
