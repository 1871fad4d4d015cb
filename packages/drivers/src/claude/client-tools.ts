import type { SessionSpec, TurnContext } from "@flint/core/ports";
import { type ClientTool, failedToolCall, stringOf, type ToolCallResult, toolNameOf } from "@flint/protocol";
import type { ClaudeMcpMessage } from "@flint/protocol/claude";
import { objectOf } from "../shared/json.ts";

/** The MCP server as which Claude sees the client-provided tools. It has no process: Flint answers for it. */
const SERVER = "client_tools";

type Reply = Readonly<Record<string, unknown>>;

/** The client-provided tools; none where the user has a server of the same name, which could be mistaken for ours. */
export function clientToolsOf({ clientTools = [], mcpServers }: SessionSpec): readonly ClientTool[] {
  return mcpServers.some(({ name }) => name === SERVER) ? [] : clientTools;
}

/** The part of `initialize` that makes Claude ask for the tools. */
export function clientServers(tools: readonly ClientTool[]): { readonly sdkMcpServers?: readonly string[] } {
  return tools.length === 0 ? {} : { sdkMcpServers: [SERVER] };
}

/** The same for `mcp_set_servers`, which removes every server that it does not name. */
export function clientServerConfig(tools: readonly ClientTool[]): Readonly<Record<string, unknown>> {
  return tools.length === 0 ? {} : { [SERVER]: { type: "sdk", name: SERVER } };
}

/**
 * Reports whether this is the name of a client-provided tool. The client that runs it decides about it, so it
 * is not asked about.
 */
export function isClientTool(name: string, tools: readonly ClientTool[]): boolean {
  return tools.some((tool) => claudeName(tool) === name);
}

function claudeName(tool: ClientTool): string {
  return `mcp__${SERVER}__${toolNameOf(tool)}`;
}

/** The server's reply to a message; undefined for the call of a tool, which only a turn can answer. */
export function serverReply({ message }: ClaudeMcpMessage, tools: readonly ClientTool[]): Reply | undefined {
  const { method, params } = message;
  switch (method) {
    case "initialize": {
      const { protocolVersion } = objectOf(params);
      const serverInfo = { name: SERVER, version: "1" };
      return reply(message, { protocolVersion, capabilities: { tools: {} }, serverInfo });
    }
    case "tools/list":
      return reply(message, { tools: tools.map(listed) });
    case "tools/call":
      return undefined;
    default:
      return reply(message, {});
  }
}

function listed(tool: ClientTool) {
  const { description, inputSchema } = tool;
  return { name: toolNameOf(tool), description, inputSchema: { ...inputSchema, type: "object" } };
}

/** The reply to the call of a tool while no turn runs. */
export function noTurnReply({ message }: ClaudeMcpMessage): Reply {
  return reply(message, resultOf(failedToolCall("No turn is running, so no client can run this.")));
}

/**
 * The context of a tool call: the turn, the client-provided tools, and the item that shows each use of a
 * tool.
 */
export interface ClientToolContext {
  readonly turn: TurnContext;
  readonly tools: readonly ClientTool[];
  itemOf(toolUseId: string | undefined, name: string, input: Readonly<Record<string, unknown>>): string;
}

/** Has the client run the tool that Claude calls, and replies with the result. */
export async function callReply({ message }: ClaudeMcpMessage, context: ClientToolContext): Promise<Reply> {
  const { name: called, arguments: given, _meta: meta } = objectOf(message.params);
  const tool = context.tools.find((known) => toolNameOf(known) === called);
  if (tool === undefined)
    return reply(message, resultOf(failedToolCall(`There is no tool ${String(called)}.`)));
  const toolUseId = stringOf(objectOf(meta)["claudecode/toolUseId"]);
  const itemId = context.itemOf(toolUseId, claudeName(tool), objectOf(given));
  const { name, namespace } = tool;
  const result = await context.turn.callTool({ itemId, tool: name, namespace, arguments: given ?? {} });
  return reply(message, resultOf(result));
}

/** A notification gets a reply too, with an id that is not read. */
function reply({ id }: ClaudeMcpMessage["message"], result: object): Reply {
  return { mcp_response: { jsonrpc: "2.0", id: id ?? 0, result } };
}

function resultOf({ success, content }: ToolCallResult): object {
  const blocks = content.map((piece) => (piece.type === "text" ? piece : imageOf(piece.url)));
  return { content: blocks, isError: !success };
}

/** MCP has images only by their bytes; any other is named by its address. */
function imageOf(url: string): object {
  const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  if (mimeType === undefined || data === undefined) return { type: "text", text: `[image: ${url}]` };
  return { type: "image", mimeType, data };
}
