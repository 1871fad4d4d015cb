import type { NativeOptions } from "@flint/agent";
import type { Driver } from "@flint/core/ports";
import type { Print } from "./codex/drift/drift.ts";
import { NativeDriver } from "./native/driver.ts";
import { AgentOnDemand } from "./shared/agent-on-demand.ts";
import type { AgentOptions } from "./shared/agent-options.ts";

export type { Endpoint, ModelAccess, NamedEndpoint, NativeOptions, WebAccess } from "@flint/agent";
export { DEFAULT_NATIVE_OPTIONS, FIRST_LISTED } from "@flint/agent";
export { type AcpProfile, KNOWN_ACP_AGENTS } from "./acp/profiles.ts";
export type { Print } from "./codex/drift/drift.ts";
export type { AgentOptions, AgentProgram, ProcessSpan } from "./shared/agent-options.ts";

/** An agent that may be on this machine, by the name that its models begin with. */
export interface NamedAgent {
  readonly id: string;
  readonly options: AgentOptions;
}

/** Every agent that Flint can drive: its own first, then those that are named. Loads, starts and asks nothing yet. */
export function builtInDrivers(
  native: Partial<NativeOptions> = {},
  agents: readonly NamedAgent[] = [],
): readonly Driver[] {
  return [new NativeDriver(native), ...agents.map(agentDriver)];
}

/** What of the words that Flint speaks is gone or has changed in a Codex. Rejects if it cannot print its own. */
export async function codexDrift(program: readonly string[], print: Print): Promise<readonly string[]> {
  return (await import("./codex/drift/drift.ts")).codexDrift(program, print);
}

function agentDriver({ id, options }: NamedAgent): Driver {
  switch (id) {
    case "claude": {
      const load = async () => new (await import("./claude/driver.ts")).ClaudeDriver(options);
      return new AgentOnDemand({ id, options, asksToWrite: true, load });
    }
    case "codex": {
      const load = async () => new (await import("./codex/driver.ts")).CodexDriver(options);
      return new AgentOnDemand({ id, options, asksToWrite: true, load });
    }
    default:
      // Whatever else there is speaks the Agent Client Protocol, which leaves it to the agent when to ask.
      return new AgentOnDemand({ id, options, asksToWrite: false, load: () => acpDriver(id, options) });
  }
}

async function acpDriver(id: string, options: AgentOptions): Promise<Driver> {
  const [{ AcpDriver }, { profileFor }] = await Promise.all([
    import("./acp/driver.ts"),
    import("./acp/profiles.ts"),
  ]);
  const command = (await options.program())?.command ?? [id];
  return new AcpDriver({ ...options, id, title: id, profile: profileFor(command) });
}
