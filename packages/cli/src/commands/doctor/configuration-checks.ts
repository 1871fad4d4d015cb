import type { McpServerConfig } from "@flint/core/ports";
import {
  type ConfigValues,
  configuredOptions,
  findProgram,
  mcpServersOf,
  UserConfig,
} from "@flint/server/config";
import { userConfigPath } from "@flint/server/environment";
import { count } from "@flint/view";
import { type Finding, reason } from "./finding.ts";

/** Whether the user's configuration is valid, and whether the programs of its MCP servers exist. */
export async function configuration(): Promise<readonly Finding[]> {
  const config = new UserConfig(userConfigPath());
  try {
    const values = await config.read();
    return [fileFinding(values, config.path), ...(await serverFindings(values))];
  } catch (thrown) {
    return [faultFinding(thrown, config.path)];
  }
}

function fileFinding(values: ConfigValues, path: string): Finding {
  // Expected: values that contradict each other. The checks below still run.
  try {
    configuredOptions(values);
  } catch (thrown) {
    return faultFinding(thrown, path);
  }
  const keys = values.entries().length;
  const detail = keys === 0 ? "none; using defaults" : `${count(keys, "key")} in ${path}`;
  return { name: "configuration", state: "ok", detail };
}

function faultFinding(thrown: unknown, path: string): Finding {
  return { name: "configuration", state: "problem", detail: reason(thrown), fix: `Edit ${path}.` };
}

async function serverFindings(values: ConfigValues): Promise<readonly Finding[]> {
  // Expected: a server without a command or a URL, which the row above reports.
  try {
    return await Promise.all(mcpServersOf(values, (text) => text).map(serverFinding));
  } catch {
    return [];
  }
}

async function serverFinding(server: McpServerConfig): Promise<Finding> {
  const name = "MCP server";
  if (server.type === "http") {
    return { name, state: "ok", detail: `${server.name} at ${new URL(server.url).origin}` };
  }
  const { command } = server;
  const path = await findProgram(command);
  if (path !== undefined) return { name, state: "ok", detail: `${server.name}: ${path}` };
  return {
    name,
    state: "problem",
    detail: `${server.name}: command not found: ${command}`,
    fix: `Install it, or set mcp_servers.${server.name}.command to its path.`,
  };
}
