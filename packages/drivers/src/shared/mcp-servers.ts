import { type StdioServer, serverProcess } from "@flint/agent/mcp-program";
import type { CommandBroker, McpServerConfig, SessionSpec } from "@flint/core/ports";
import { errorMessage, FlintError, type ThreadSettings } from "@flint/protocol";

/** The session whose servers an agent uses, and its way to them. */
export interface McpAccess {
  readonly spec: Pick<SessionSpec, "sandbox" | "mcpServers" | "mcpProblem" | "mcpFailed">;
  /** The settings that the agent works with: its servers may touch the same as its commands. */
  readonly settings: Pick<ThreadSettings, "cwd" | "sandboxPolicy">;
  /** The broker of the agent's sandbox; undefined if it has none. */
  readonly broker: Pick<CommandBroker, "bridge"> | undefined;
  /** Ends the servers, if they are to end before the agent's process. */
  readonly signal?: AbortSignal;
}

/**
 * The MCP servers that an agent may use now, as its configuration has to name them. Programs run outside of the agent's sandbox, in one
 * of their own: the agent gets a command that leads to them, and none of their variables. Without a broker it starts them
 * itself. The core reports those that must not be started.
 */
export async function agentServers(access: McpAccess): Promise<readonly McpServerConfig[]> {
  const { spec, broker } = access;
  const problems = await Promise.all(spec.mcpServers.map((server) => spec.mcpProblem?.(server)));
  const allowed = spec.mcpServers.filter((_, at) => problems[at] === undefined);
  if (broker === undefined) return allowed;
  return allowed.map((server) => (server.type === "stdio" ? bridged(server, access, broker) : server));
}

function bridged(
  server: StdioServer,
  { spec, settings, signal }: McpAccess,
  broker: Pick<CommandBroker, "bridge">,
): McpServerConfig {
  const { cwd, sandboxPolicy: policy } = settings;
  const start = async () => {
    // Its files may have changed since the agent was configured.
    const problem = await spec.mcpProblem?.(server);
    if (problem !== undefined) throw new FlintError("agentFailed", problem);
    try {
      return await spec.sandbox.start(serverProcess(server, { cwd, policy }));
    } catch (thrown) {
      spec.mcpFailed?.(server, errorMessage(thrown));
      throw thrown;
    }
  };
  const [command = "", ...args] = broker.bridge({ start, ...(signal === undefined ? {} : { signal }) });
  return { type: "stdio", name: server.name, command, args, env: {} };
}
