import type { ClientTool } from "@flint/protocol";
import type { McpServerConfig } from "../ports/index.ts";

/** The MCP servers and tools that clients provide for single threads. In memory only, so that no key gets into a file. */
export class ClientProvided {
  readonly #servers = new Map<string, readonly McpServerConfig[]>();
  readonly #tools = new Map<string, readonly ClientTool[]>();

  /** The MCP servers that a client provides for a thread. */
  mcpServers(threadId: string): readonly McpServerConfig[] {
    return this.#servers.get(threadId) ?? [];
  }

  /** The tools that a client provides for a thread. */
  tools(threadId: string): readonly ClientTool[] {
    return this.#tools.get(threadId) ?? [];
  }

  /** Sets the MCP servers of a thread. False if that changes nothing. */
  setMcpServers(threadId: string, servers: readonly McpServerConfig[]): boolean {
    const isChange = differ(this.mcpServers(threadId), servers);
    this.#servers.set(threadId, servers);
    return isChange;
  }

  /** Sets the tools of a thread. False if that changes nothing. */
  setTools(threadId: string, tools: readonly ClientTool[]): boolean {
    const isChange = differ(this.tools(threadId), tools);
    this.#tools.set(threadId, tools);
    return isChange;
  }

  /** Forgets a deleted thread. */
  delete(threadId: string): void {
    this.#servers.delete(threadId);
    this.#tools.delete(threadId);
  }
}

function differ(before: unknown, now: unknown): boolean {
  return JSON.stringify(before) !== JSON.stringify(now);
}
