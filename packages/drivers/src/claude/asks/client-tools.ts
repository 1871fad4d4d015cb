import type { SessionSpec, TurnContext } from "@flint/core/ports";
import { type ClientTool, failedToolCall, type ToolCallResult, toolNameOf } from "@flint/protocol";
import type { ClaudeMcpMessage } from "@flint/protocol/claude";

/** The MCP server as which Claude sees the tools of the client. It runs nowhere: Flint answers for it. */
const SERVER = "client_tools";

type Reply = Readonly<Record<string, unknown>>;

/** What is said with the hello, so that Claude asks for the tools. */
export function clientServers(tools: readonly ClientTool[]): { readonly sdkMcpServers?: readonly string[] } {
  return tools.length === 0 ? {} : { sdkMcpServers: [SERVER] };
}

/** The same where all servers are named anew: what is not named again is gone. */
export function clientServerConfig(tools: readonly ClientTool[]): Readonly<Record<string, unknown>> {
  return tools.length === 0 ? {} : { [SERVER]: { type: "sdk", name: SERVER } };
}

/** Whether this is the name of a tool of the client. Who runs a tool decides about it, so nobody else is asked. */
export function isClientTool(name: string, offered: readonly ClientTool[]): boolean {
  return offered.some((tool) => usedName(tool) === name);
}

/** What can be offered: nothing where the user has a server of the same name, or its tools would be taken for ours. */
export function offerable({ clientTools = [], mcpServers }: SessionSpec): readonly ClientTool[] {
  return mcpServers.some(({ name }) => name === SERVER) ? [] : clientTools;
}

function usedName(tool: ClientTool): string {
  return `mcp__${SERVER}__${toolNameOf(tool)}`;
}

/** The answer to all that Claude says to the server, but for the call of a tool: then undefined. */
export function serverReply({ message }: ClaudeMcpMessage, tools: readonly ClientTool[]): Reply | undefined {
  const { method, params } = message;
  switch (method) {
    case "initialize": {
      const protocolVersion: unknown = Reflect.get(Object(params), "protocolVersion");
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

/** The answer to the call of a tool while no turn runs. */
export function idleReply({ message }: ClaudeMcpMessage): Reply {
  return reply(message, resultOf(failedToolCall("No turn is running, so no client can run this.")));
}

/** Where a call happens: the turn, what the client offers, and which item shows the use of a tool. */
export interface ClientCallPlace {
  readonly turn: TurnContext;
  readonly tools: readonly ClientTool[];
  itemOf(toolUseId: string | undefined, name: string, input: Readonly<Record<string, unknown>>): string;
}

/** Has the client run the tool that Claude calls. */
export async function callReply({ message }: ClaudeMcpMessage, place: ClientCallPlace): Promise<Reply> {
  const { name: called, arguments: given, _meta: meta } = Object(message.params);
  const tool = place.tools.find((offered) => toolNameOf(offered) === called);
  if (tool === undefined)
    return reply(message, resultOf(failedToolCall(`There is no tool ${String(called)}.`)));
  const toolUseId: unknown = Reflect.get(Object(meta), "claudecode/toolUseId");
  const id = typeof toolUseId === "string" ? toolUseId : undefined;
  const itemId = place.itemOf(id, usedName(tool), Object(given));
  const { name, namespace } = tool;
  const result = await place.turn.callTool({ itemId, tool: name, namespace, arguments: given ?? {} });
  return reply(message, resultOf(result));
}

/** A notification is answered too, with an id that nobody looks at. */
function reply({ id }: ClaudeMcpMessage["message"], result: object): Reply {
  return { mcp_response: { jsonrpc: "2.0", id: id ?? 0, result } };
}

function resultOf({ success, content }: ToolCallResult): object {
  const pieces = content.map((piece) => (piece.type === "text" ? piece : pictureOf(piece.url)));
  return { content: pieces, isError: !success };
}

/** MCP has pictures only as their bytes; of any other the address is told. */
function pictureOf(url: string): object {
  const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  if (mimeType === undefined || data === undefined) return { type: "text", text: `[a picture: ${url}]` };
  return { type: "image", mimeType, data };
}
