import type { McpServerConfig } from "@flint/core/ports";
import type { ConfigValues } from "./config-values.ts";
import { ConfigError } from "./parse.ts";

/** Puts in what stands for something else in a text, such as the value of a variable. */
export type FillIn = (text: string) => string;

/** The MCP servers that a configuration names. Throws a ConfigError for one that is neither a program nor an address. */
export function mcpServersOf(config: ConfigValues, fillIn: FillIn): readonly McpServerConfig[] {
  return config
    .names("mcp_servers")
    .filter((name) => config.get("mcp_servers.*.enabled", name) !== false)
    .map((name) => serverOf(config, name, fillIn));
}

function serverOf(config: ConfigValues, name: string, fillIn: FillIn): McpServerConfig {
  const command = config.get("mcp_servers.*.command", name);
  const url = config.get("mcp_servers.*.url", name);
  if ((command === undefined) === (url === undefined)) {
    throw new ConfigError(`mcp_servers.${name} needs a command or a url, and not both.`);
  }
  if (url !== undefined) {
    return { type: "http", name, url, headers: filled(config.get("mcp_servers.*.headers", name), fillIn) };
  }
  const args = config.get("mcp_servers.*.args", name) ?? [];
  const env = filled(config.get("mcp_servers.*.env", name), fillIn);
  return { type: "stdio", name, command: command ?? "", args, env };
}

function filled(pairs: Readonly<Record<string, string>> = {}, fillIn: FillIn): Record<string, string> {
  return Object.fromEntries(Object.entries(pairs).map(([name, value]) => [name, fillIn(value)]));
}
