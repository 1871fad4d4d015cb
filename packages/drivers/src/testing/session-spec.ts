import type { Sandbox, SandboxScope, SessionSpec } from "@flint/core/ports";
import { type Endpoint, FlintError, mintId, type ThreadSettings } from "@flint/protocol";

/** The settings of a thread that may write its workspace, and in which everything needs approval. */
export function testSettings(
  model: string,
  cwd: string,
  changes: Partial<ThreadSettings> = {},
): ThreadSettings {
  const policies = { approvalPolicy: "always", sandboxPolicy: { type: "workspaceWrite" } } as const;
  return { model, cwd, ...policies, config: {}, ...changes };
}

/** Start options of the first session of a thread without MCP servers. */
export function sessionSpec(
  settings: ThreadSettings,
  sandbox: Sandbox,
  changes: Partial<SessionSpec> = {},
): SessionSpec {
  return {
    threadId: mintId(),
    settings,
    nativeId: undefined,
    history: async () => [],
    handoffSummary: async () => "",
    mcpServers: [],
    sandbox,
    ...changes,
  };
}

/** A sandbox as a thread has it: what it starts shares a network, in which `allows` decides about connections. */
export function threadSandbox(sandbox: Sandbox, allows: (connection: Endpoint) => boolean): Sandbox {
  const scope: SandboxScope = {
    ...{ id: "t", privateGit: false },
    decide: async (connection) =>
      allows(connection) ? { allowed: true } : { allowed: false, reason: "it was declined" },
  };
  return {
    state: () => sandbox.state(),
    launch: (spec) => sandbox.launch({ scope, ...spec }),
    start: (spec) => sandbox.start({ scope, ...spec }),
    openBroker: async () => sandbox.openBroker?.((spec) => sandbox.start({ scope, ...spec })),
    closeScope: async () => sandbox.closeScope?.(scope.id),
  };
}

/** A sandbox in which nothing can be started. */
export const NO_SANDBOX: Sandbox = {
  state: async () => ({ available: false, mechanism: "none" }),
  launch: () => Promise.reject(new FlintError("sandboxUnavailable", "No sandbox is available.")),
  start: () => Promise.reject(new FlintError("sandboxUnavailable", "No sandbox is available.")),
};
