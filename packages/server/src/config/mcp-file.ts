import { ConfigValues } from "./config-values.ts";
import { CONFIG_KEYS, rowNameOf } from "./keys.ts";
import { ConfigError } from "./parse.ts";

const FIELDS = ["command", "args", "env", "url", "headers"];

/**
 * Reads `.mcp.json`, the file that several agents share. Fields that are not ours are for others and left alone; ours
 * have to be what they are in Flint's own configuration.
 */
export async function parseMcpFile(text: string, path: string): Promise<ConfigValues> {
  const servers = serversIn(text, path);
  const values = new Map<string, unknown>();
  for (const [name, server] of Object.entries(servers)) {
    if (!isRecord(server) || name.includes("."))
      throw new ConfigError(`${path}: ${JSON.stringify(name)} is no server.`);
    for (const field of FIELDS) {
      const at = ["mcp_servers", name, field];
      const row = rowNameOf(at);
      if (server[field] === undefined || row === undefined) continue;
      const { schema, takes } = CONFIG_KEYS[row];
      if (!schema.safeParse(server[field]).success) {
        throw new ConfigError(`${path}: ${field} of ${name} takes ${takes}.`);
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
