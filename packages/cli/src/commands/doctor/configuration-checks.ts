import type { McpServerConfig } from "@flint/core/ports";
import {
  type ConfigValues,
  configuredOptions,
  findProgram,
  mcpServersOf,
  UserConfig,
} from "@flint/server/config";
import { userConfigPath } from "@flint/server/environment";
import { count } from "../../screen/amounts.ts";
import { type Finding, reason } from "./finding.ts";

/** Whether the user's configuration can be used, and whether its MCP servers are where it says. */
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
  // Expected: values that do not go together. What is right one by one is still looked at.
  try {
    configuredOptions(values);
  } catch (thrown) {
    return faultFinding(thrown, path);
  }
  const keys = values.entries().length;
  const detail = keys === 0 ? "none, the defaults hold" : `${count(keys, "key")} in ${path}`;
  return { name: "configuration", state: "ok", detail };
}

function faultFinding(thrown: unknown, path: string): Finding {
  return { name: "configuration", state: "problem", detail: reason(thrown), wayOut: `Edit ${path}.` };
}

async function serverFindings(values: ConfigValues): Promise<readonly Finding[]> {
  // Expected: a server without a program and an address, which the row above tells.
  try {
    return await Promise.all(mcpServersOf(values, (text) => text).map(serverFinding));
  } catch {
    return [];
  }
}

async function serverFinding(server: McpServerConfig): Promise<Finding> {
  const name = "MCP server";
  if (server.type === "http") {
    return { name, state: "ok", detail: `${server.name} is asked at ${new URL(server.url).origin}` };
  }
  const { command } = server;
  const path = await findProgram(command);
  if (path !== undefined) return { name, state: "ok", detail: `${server.name} is started from ${path}` };
  return {
    name,
    state: "problem",
    detail: `${server.name}: there is no program ${JSON.stringify(command)}`,
    wayOut: `Install it, or set mcp_servers.${server.name}.command to where it is.`,
  };
}
