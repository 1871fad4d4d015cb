import type { Clock, McpServerConfig, Sandbox } from "@flint/core/ports";
import type { SandboxPolicy } from "@flint/protocol";
import { McpFailure, Redaction } from "../failure.ts";
import { serverProcess } from "../server-process.ts";
import type { ServerTransport } from "./server-transport.ts";

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
