import type { ClientTool } from "@flint/protocol";
import type { McpServerConfig } from "../ports/index.ts";

/** What clients brought along for single threads. Only in memory: its keys must not get into any file. */
export class ClientProvided {
  readonly #servers = new Map<string, readonly McpServerConfig[]>();
  readonly #tools = new Map<string, readonly ClientTool[]>();

  /** The MCP servers that a client brought along for a thread. */
  mcpServers(threadId: string): readonly McpServerConfig[] {
    return this.#servers.get(threadId) ?? [];
  }

  /** The tools that a client offers for a thread. */
  tools(threadId: string): readonly ClientTool[] {
    return this.#tools.get(threadId) ?? [];
  }

  /** Notes the MCP servers that a client brings along for a thread. False if they are what they were. */
  setMcpServers(threadId: string, servers: readonly McpServerConfig[]): boolean {
    const isChange = differ(this.mcpServers(threadId), servers);
    this.#servers.set(threadId, servers);
    return isChange;
  }

  /** Notes the tools that a client offers for a thread. False if they are what they were. */
  setTools(threadId: string, tools: readonly ClientTool[]): boolean {
    const isChange = differ(this.tools(threadId), tools);
    this.#tools.set(threadId, tools);
    return isChange;
  }

  /** The thread is gone. */
  delete(threadId: string): void {
    this.#servers.delete(threadId);
    this.#tools.delete(threadId);
  }
}

function differ(before: unknown, now: unknown): boolean {
  return JSON.stringify(before) !== JSON.stringify(now);
}
