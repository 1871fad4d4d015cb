import {
  type Clock,
  type McpServerConfig,
  type McpServerStatus,
  orAborted,
  type Sandbox,
  SYSTEM_CLOCK,
} from "@flint/core/ports";
import { displayText } from "@flint/core/text";
import type { SandboxPolicy } from "@flint/protocol";
import type { Tool, ToolContext, ToolOutcome, ToolSource } from "../tools/tool.ts";
import { readCallResult } from "./call-result.ts";
import { McpFailure } from "./failure.ts";
import { McpCall } from "./mcp-call.ts";
import { McpServer } from "./mcp-server.ts";
import { resourceTools } from "./resource-tools.ts";
import { type ListedTool, nameTools } from "./tool-list.ts";

/** The options of a session's MCP servers. */
export interface McpOptions {
  readonly sandbox: Sandbox;
  /** The folder of the thread: the working directory and root of the servers. */
  readonly cwd: string;
  /** Sandbox policy for the programs of servers; the workspace if absent. */
  readonly policy?: SandboxPolicy;
  /**
   * Returns the reason a server must not be started now; undefined if it may be. Called before each start.
   */
  problem?(server: McpServerConfig): Promise<string | undefined>;
  readonly clock?: Clock;
  /** The version of Flint that is sent to servers. */
  readonly version?: string;
}

const WORKSPACE: SandboxPolicy = { type: "workspaceWrite" };

/** The MCP servers of one session as tools of the agent. Nothing is started before the tools are first requested. */
export class McpServers implements ToolSource {
  readonly #servers: readonly McpServer[];
  readonly #clock: Clock;
  #isClosed = false;

  constructor(configs: readonly McpServerConfig[], options: McpOptions) {
    const { clock = SYSTEM_CLOCK, version = "unknown", policy = WORKSPACE } = options;
    // Names are unique: tool calls and approvals refer to servers by name.
    const named = new Map(configs.map((config) => [config.name, config]));
    const connection = { ...options, clock, version, policy };
    this.#servers = [...named.values()].map((config) => new McpServer(config, connection));
    this.#clock = clock;
  }

  async tools(signal: AbortSignal): Promise<readonly Tool[]> {
    if (this.#isClosed) return [];
    await orAborted(Promise.all(this.#servers.map((server) => server.prepare())), signal, undefined);
    return [...this.#serverTools(), ...resourceTools(this.#servers, this.#clock)];
  }

  /** The status of each server, in the order of the configuration. */
  statuses(): readonly McpServerStatus[] {
    return this.#servers.map((server) => server.status);
  }

  /** The servers that failed, each with a message. */
  missing(): ReadonlyMap<string, string> {
    const failed = this.statuses().filter(({ status }) => status === "failed");
    return new Map(
      failed.map(({ name, error = "It failed." }) => [
        name,
        `The MCP server ${JSON.stringify(name)} failed, so its tools are not available: ${error}`,
      ]),
    );
  }

  /** Stops all servers. Resolves when no process of them is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#servers.map((server) => server.close()));
  }

  #serverTools(): Tool[] {
    const listed = this.#servers.flatMap((server) =>
      (server.connection?.tools.tools ?? []).map((tool) => ({ server, tool })),
    );
    const names = nameTools(listed.map(({ server, tool }) => ({ server: server.name, tool: tool.name })));
    return listed.map(
      ({ server, tool }, at) => new McpTool(names[at] ?? tool.name, server, tool, this.#clock),
    );
  }
}

/** A tool of a server. Its annotations are not trusted: every call needs approval. */
class McpTool implements Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly readOnly = false;
  readonly #server: McpServer;
  readonly #tool: string;
  readonly #clock: Clock;

  constructor(
    name: string,
    server: McpServer,
    { name: tool, description, parameters }: ListedTool,
    clock: Clock,
  ) {
    this.name = name;
    this.description = description || `The tool ${displayText(tool, 100)} of the MCP server ${server.name}.`;
    this.parameters = parameters;
    this.#server = server;
    this.#tool = tool;
    this.#clock = clock;
  }

  run(input: Readonly<Record<string, unknown>>, context: ToolContext): Promise<ToolOutcome> {
    const { name: server } = this.#server;
    const target = { server, tool: this.#tool, asks: "server" as const, perform: this.#perform };
    return McpCall.run(target, input, context, this.#clock);
  }

  readonly #perform: Parameters<typeof McpCall.run>[0]["perform"] = async (input, listener) => {
    const { connection, status } = this.#server;
    if (connection === undefined) throw new McpFailure(status.error ?? "It is not connected.");
    return readCallResult(await connection.callTool(this.#tool, input, listener));
  };
}
