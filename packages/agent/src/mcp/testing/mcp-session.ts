import type { DriverEvent, TurnContext } from "@flint/core/ports";
import type { Action, Answers, Decision, Item, ThreadSettings, UserQuestion } from "@flint/protocol";
import type { Tool, ToolOutcome } from "../../tools/tool.ts";
import type { McpServers } from "../mcp-servers.ts";

/** How the user of a test behaves. */
export interface Wishes {
  readonly decide?: () => Decision;
  readonly answer?: (questions: readonly UserQuestion[]) => Answers;
  /** Sees everything as it is reported. */
  readonly onEvent?: (event: DriverEvent) => void;
  readonly signal?: AbortSignal;
}

/** What came of a call, and all that was told and asked on the way. */
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

/** The tools at this moment, by name. */
export async function toolsOf(servers: McpServers): Promise<ReadonlyMap<string, Tool>> {
  const tools = await servers.tools(NEVER);
  return new Map(tools.map((tool) => [tool.name, tool]));
}

/** Calls a tool as a turn of the agent does. */
export async function call(
  servers: McpServers,
  name: string,
  input: Readonly<Record<string, unknown>> = {},
  wishes: Wishes = {},
): Promise<Called> {
  const tools = await toolsOf(servers);
  const tool = tools.get(name);
  if (tool === undefined) throw new Error(`There is no tool ${name}, only ${[...tools.keys()].join(", ")}.`);
  return callTool(tool, input, wishes);
}

/** Calls this very tool. */
export async function callTool(
  tool: Tool,
  input: Readonly<Record<string, unknown>> = {},
  wishes: Wishes = {},
): Promise<Called> {
  const events: DriverEvent[] = [];
  const actions: Action[] = [];
  const questions: (readonly UserQuestion[])[] = [];
  const { signal = NEVER } = wishes;
  const turn: TurnContext = {
    ...{ turnId: "turn", kind: "prompt", input: [], review: undefined, outputSchema: undefined },
    ...{ settings: SETTINGS, signal, ready: async () => undefined },
    emit: (event) => {
      events.push(event);
      wishes.onEvent?.(event);
    },
    approve: async (action) => {
      actions.push(action);
      return wishes.decide?.() ?? { outcome: "allow", scope: "once" };
    },
    ask: async (_itemId, asked) => {
      questions.push(asked);
      return wishes.answer?.(asked) ?? {};
    },
    callTool: unused,
  };
  const sandbox = { state: unused, launch: unused, start: unused };
  const outcome = await tool.run(input, { turn, signal, sandbox, itemId: "item-1" });
  const last = events.findLast((event) => event.type === "item/completed");
  const item = last?.type === "item/completed" ? last.item : undefined;
  return { outcome, events, actions, questions, item: isCall(item) ? item : undefined };
}

/** The text that the model is told. */
export function told({ outcome }: Called): string {
  return "result" in outcome ? outcome.result.text : outcome.ended.status;
}

function isCall(item: unknown): item is Item<"mcpToolCall"> {
  return typeof item === "object" && item !== null && "type" in item && item.type === "mcpToolCall";
}

function unused(): Promise<never> {
  return Promise.reject(new Error("A call of an MCP tool starts nothing."));
}
