import { homedir } from "node:os";
import { join } from "node:path";
import type { Clock, McpServerConfig, ProcessSpec, Sandbox } from "@flint/core/ports";
import { isUnconfined, type SandboxPolicy } from "@flint/protocol";
import { McpFailure, Redaction } from "../failure.ts";
import type { ServerTransport } from "./server-transport.ts";

type StdioConfig = Extract<McpServerConfig, { type: "stdio" }>;

/** The MCP library, which is loaded with the first connection. */
export type McpLibrary = typeof import("@modelcontextprotocol/client");

/** The options of connections. */
export interface ConnectionOptions {
  readonly sandbox: Sandbox;
  readonly cwd: string;
  /** Sandbox policy for the programs of servers: the same as for the commands of the thread. */
  readonly policy: SandboxPolicy;
  /** Returns the reason a server must not be started now; undefined if it may be. */
  problem?(server: McpServerConfig): Promise<string | undefined>;
  readonly clock: Clock;
  /** The version of Flint that is sent to servers. */
  readonly version: string;
}

/** Starts the process of a stdio server, or prepares the connection to an HTTP server. */
export async function openTransport(
  config: McpServerConfig,
  options: ConnectionOptions,
  library: McpLibrary,
): Promise<ServerTransport> {
  const { sandbox, clock } = options;
  switch (config.type) {
    case "stdio": {
      const { StdioTransport } = await import("./stdio-transport.ts");
      const problem = await options.problem?.(config);
      if (problem !== undefined) throw new McpFailure(problem);
      const running = await sandbox.start(serverProcess(config, options));
      return new StdioTransport(running, new Redaction(config));
    }
    case "http": {
      const { HttpTransport } = await import("./http-transport.ts");
      return new HttpTransport(config, clock, library.StreamableHTTPClientTransport);
    }
  }
}

/** Caches of package managers, which a server may add to for itself. */
const CACHES = [".npm", ".cache"];

/** Returns advice for the user on a program that does not start in the sandbox. */
export function sandboxStartHint({ type, name }: McpServerConfig, { policy }: ConnectionOptions): string {
  if (type === "http" || isUnconfined(policy)) return "";
  return ` It runs in the sandbox; mcp_servers.${name}.writable and mcp_servers.${name}.network in your configuration allow it more.`;
}

/** The program of a server, in a sandbox of its own. */
function serverProcess(config: StdioConfig, { cwd, policy }: ConnectionOptions): ProcessSpec {
  const { command, args, env, network, writable = [] } = config;
  const home = homedir();
  return {
    command: [command, ...args],
    ...{ cwd, workspace: cwd, policy, environment: env },
    ownPaths: writable.map((path) => (path.startsWith("~/") ? join(home, path.slice(2)) : path)),
    privateFolders: CACHES.map((name) => ({ path: join(home, name) })),
    ...(network === undefined ? {} : { hosts: network }),
  };
}
