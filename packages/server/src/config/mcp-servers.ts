import type { McpServerConfig } from "@flint/core/ports";
import { isRecord, networkRuleProblem } from "@flint/protocol";
import { expandHome } from "./environment.ts";
import { CONFIG_KEYS, rowNameOf } from "./keys/table.ts";
import { ConfigError, ConfigValues } from "./parse.ts";

/** Replaces placeholders in a string, such as `{env:NAME}`. */
export type Expand = (text: string) => string;

/** The configured MCP servers. Throws a ConfigError for one that has not exactly one of `command` and `url`. */
export function mcpServersOf(config: ConfigValues, expand: Expand): readonly McpServerConfig[] {
  return config
    .names("mcp_servers")
    .filter((name) => config.get("mcp_servers.*.enabled", name) !== false)
    .map((name) => serverOf(config, name, expand));
}

function serverOf(config: ConfigValues, name: string, expand: Expand): McpServerConfig {
  const command = config.get("mcp_servers.*.command", name);
  const url = config.get("mcp_servers.*.url", name);
  if ((command === undefined) === (url === undefined)) {
    throw new ConfigError(`mcp_servers.${name} needs either a command or a url.`);
  }
  if (url !== undefined) {
    return { type: "http", name, url, headers: expanded(config.get("mcp_servers.*.headers", name), expand) };
  }
  const args = config.get("mcp_servers.*.args", name) ?? [];
  const env = expanded(config.get("mcp_servers.*.env", name), expand);
  const network = config.get("mcp_servers.*.network", name);
  const writable = config.get("mcp_servers.*.writable", name);
  return {
    ...({ type: "stdio", name, command: expandHome(command ?? ""), args, env } as const),
    ...(network === undefined ? {} : { network: checkedHosts(network, name) }),
    ...(writable === undefined ? {} : { writable }),
  };
}

function checkedHosts(hosts: readonly string[], name: string): readonly string[] {
  for (const host of hosts) {
    const problem = networkRuleProblem(host);
    if (problem !== undefined) throw new ConfigError(`mcp_servers.${name}.network: ${problem}`);
  }
  return hosts;
}

function expanded(pairs: Readonly<Record<string, string>> = {}, expand: Expand): Record<string, string> {
  return Object.fromEntries(Object.entries(pairs).map(([name, value]) => [name, expand(value)]));
}

const FIELDS = ["command", "args", "env", "url", "headers"];

/**
 * Parses `.mcp.json`, the file that several agents share. Fields that Flint knows are validated like those of its own
 * configuration; others are ignored.
 */
export async function parseMcpFile(text: string, path: string): Promise<ConfigValues> {
  const servers = serversIn(text, path);
  const values = new Map<string, unknown>();
  for (const [name, server] of Object.entries(servers)) {
    if (!isRecord(server) || name.includes("."))
      throw new ConfigError(`${path}: ${JSON.stringify(name)} is not a valid server.`);
    for (const field of FIELDS) {
      const at = ["mcp_servers", name, field];
      const row = rowNameOf(at);
      if (server[field] === undefined || row === undefined) continue;
      const { schema, takes } = CONFIG_KEYS[row];
      if (!schema.safeParse(server[field]).success) {
        throw new ConfigError(`${path}: ${field} of ${name} must be ${takes}.`);
      }
      values.set(at.join("."), server[field]);
    }
  }
  return new ConfigValues(values);
}

function serversIn(text: string, path: string): Record<string, unknown> {
  try {
    const document: unknown = JSON.parse(text);
    const servers = isRecord(document) ? document.mcpServers : undefined;
    if (isRecord(servers)) return servers;
  } catch {
    throw new ConfigError(`${path} is not JSON.`);
  }
  throw new ConfigError(`${path} has no mcpServers.`);
}
