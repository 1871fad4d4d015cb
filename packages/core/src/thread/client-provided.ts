import type { ClientTool } from "@flint/protocol";
import type { ClientHost, McpServerConfig } from "../ports/index.ts";

/**
 * MCP servers and hosts that clients provide for single threads. In memory only, so that no key gets into a
 * file.
 */
export class ClientProvided {
  readonly #servers = new Map<string, readonly McpServerConfig[]>();
  readonly #tools = new Map<string, readonly ClientTool[]>();
  readonly #hosts = new Map<string, ClientHost>();

  /** The MCP servers that a client provides for a thread. */
  mcpServers(threadId: string): readonly McpServerConfig[] {
    return this.#servers.get(threadId) ?? [];
  }

  /** The tools that a client provides for a thread. */
  tools(threadId: string): readonly ClientTool[] {
    return this.#tools.get(threadId) ?? [];
  }

  /** The client that runs commands and has the files of a thread; undefined if that is this machine. */
  host(threadId: string): ClientHost | undefined {
    return this.#hosts.get(threadId);
  }

  /** Has a client run the commands and keep the files of a thread, in place of any other. */
  setHost(threadId: string, host: ClientHost): void {
    this.#hosts.set(threadId, host);
  }

  /** Undoes `setHost`, unless another client has taken its place. */
  removeHost(threadId: string, host: ClientHost): void {
    if (this.#hosts.get(threadId) === host) this.#hosts.delete(threadId);
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
    this.#hosts.delete(threadId);
  }
}

function differ(before: unknown, now: unknown): boolean {
  return JSON.stringify(before) !== JSON.stringify(now);
}
