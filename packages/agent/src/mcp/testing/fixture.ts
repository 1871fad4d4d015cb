import { fileURLToPath } from "node:url";
import type { McpServerConfig } from "@flint/core/ports";

type StdioConfig = Extract<McpServerConfig, { type: "stdio" }>;

/** The MCP server of the tests, as a program. */
export function fixtureServer(name: string, fault?: string, env: Record<string, string> = {}): StdioConfig {
  return programOf("server.mjs", name, fault === undefined ? [] : [fault], env);
}

/** A server made with the official MCP SDK. */
export function libraryServer(name: string): StdioConfig {
  return programOf("library-server.mjs", name, [], {});
}

function programOf(
  file: string,
  name: string,
  rest: readonly string[],
  env: Record<string, string>,
): StdioConfig {
  const path = fileURLToPath(new URL(`../fixtures/${file}`, import.meta.url));
  return { type: "stdio", name, command: process.execPath, args: [path, ...rest], env };
}
