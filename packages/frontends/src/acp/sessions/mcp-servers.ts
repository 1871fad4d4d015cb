import { FlintError, type Params } from "@flint/protocol";
import type { ClientMcpServer } from "../requests.ts";

type McpServers = NonNullable<Params<"thread/start">["mcpServers"]>;

/** The MCP servers that a client brings along, for the core. Throws `invalidParams` for a kind that no agent takes. */
export function mcpServersOf(servers: readonly ClientMcpServer[] | null | undefined): McpServers | undefined {
  return servers?.map(serverOf);
}

function serverOf(server: ClientMcpServer, index: number): McpServers[number] {
  const { name } = server;
  if (!("url" in server)) {
    return {
      type: "stdio",
      name,
      command: server.command,
      args: [...(server.args ?? [])],
      env: recordOf(server.env),
    };
  }
  if (server.type === "http")
    return { type: "http", name, url: server.url, headers: recordOf(server.headers) };
  const message = `The MCP server ${name} speaks sse, which MCP has given up. Use its http address, or a program.`;
  throw new FlintError("invalidParams", message, { field: `mcpServers[${index}]` });
}

function recordOf(
  pairs: readonly { name: string; value: string }[] | null | undefined,
): Record<string, string> {
  return Object.fromEntries((pairs ?? []).map(({ name, value }) => [name, value]));
}
