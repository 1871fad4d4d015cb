import type { Clock, McpServerConfig, Sandbox } from "@flint/core/ports";
import { Redaction } from "../redaction.ts";
import type { ServerTransport } from "./server-transport.ts";

/** The library, which is loaded when the first server is connected to. */
export type McpLibrary = typeof import("@modelcontextprotocol/client");

/** What connections are made with. */
export interface ConnectionOptions {
  readonly sandbox: Sandbox;
  readonly cwd: string;
  readonly clock: Clock;
  /** Our own version, as servers are told. */
  readonly version: string;
}

/** Starts the program of a server, or gets ready to reach it over HTTP. */
export async function openTransport(
  config: McpServerConfig,
  { sandbox, cwd, clock }: ConnectionOptions,
  library: McpLibrary,
): Promise<ServerTransport> {
  switch (config.type) {
    case "stdio": {
      const { StdioTransport } = await import("./stdio-transport.ts");
      // It is the user's own program, started at the user's word: it works with the rights of the user.
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
