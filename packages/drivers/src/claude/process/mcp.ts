import type { McpServerConfig } from "@flint/core/ports";

/** The user's MCP servers as Claude wants them, by name. They are told over the wire, so no secret is an argument. */
export function claudeServers(servers: readonly McpServerConfig[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(servers.map(({ name, ...config }) => [name, config]));
}
