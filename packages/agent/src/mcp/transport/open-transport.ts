import type { Clock, McpServerConfig, Sandbox } from "@flint/core/ports";
import { Redaction } from "../redaction.ts";
import type { ServerTransport } from "./server-transport.ts";

/** The MCP library, which is loaded with the first connection. */
export type McpLibrary = typeof import("@modelcontextprotocol/client");

/** The options of connections. */
export interface ConnectionOptions {
  readonly sandbox: Sandbox;
  readonly cwd: string;
  readonly clock: Clock;
  /** The version of Flint that is sent to servers. */
  readonly version: string;
}

/** Starts the process of a stdio server, or prepares the connection to an HTTP server. */
export async function openTransport(
  config: McpServerConfig,
  { sandbox, cwd, clock }: ConnectionOptions,
  library: McpLibrary,
): Promise<ServerTransport> {
  switch (config.type) {
    case "stdio": {
      const { StdioTransport } = await import("./stdio-transport.ts");
      // The user configured this program, so it runs with the rights of the user.
      const policy = { type: "dangerFullAccess" } as const;
      const command = [config.command, ...config.args];
      const running = await sandbox.start({ command, cwd, workspace: cwd, policy, environment: config.env });
      return new StdioTransport(running, new Redaction(config));
    }
    case "http": {
      const { HttpTransport } = await import("./http-transport.ts");
      return new HttpTransport(config, clock, library.StreamableHTTPClientTransport);
    }
  }
}
