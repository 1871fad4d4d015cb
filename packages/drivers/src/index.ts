import type { NativeOptions } from "@flint/agent";
import type { Driver } from "@flint/core/ports";
import { ACP_PROFILES, acpProfile } from "./acp/descriptor.ts";
import { CLAUDE } from "./claude/descriptor.ts";
import { CODEX } from "./codex/descriptor.ts";
import type { RunProgram } from "./codex/drift.ts";
import { NativeDriver } from "./native/driver.ts";
import type { AgentDescriptor, AgentOptions } from "./shared/agent.ts";
import { LazyDriver, type LoadDriver } from "./shared/driver.ts";

export type {
  Endpoint,
  ModelAccess,
  ModelSettings,
  NamedEndpoint,
  NativeOptions,
  WebAccess,
} from "@flint/agent";
export { DEFAULT_NATIVE_OPTIONS, FIRST_LISTED } from "@flint/agent";
export { PriceList } from "@flint/agent/prices";
export type { RunProgram } from "./codex/drift.ts";
export type { AgentDescriptor, AgentLogin, AgentOptions, AgentProgram, ProcessSpan } from "./shared/agent.ts";
export { ignoredProgramReason } from "./shared/agent.ts";

/** An agent with a protocol of its own: its descriptor, and how its driver is loaded. */
interface OwnProtocol {
  readonly descriptor: AgentDescriptor;
  readonly load: LoadDriver;
}

/** Deletes what Flint keeps of the sessions that agents have for a thread, in the state folder of these agents. */
export async function removeThreadSessions(stateFolder: string, threadId: string): Promise<void> {
  const { removeSessions } = await import("./shared/folders/agent-paths.ts");
  await removeSessions(stateFolder, threadId);
}

/** One line for each driver. Every agent that is not among these has to speak the Agent Client Protocol. */
const OWN_PROTOCOLS: readonly OwnProtocol[] = [
  {
    descriptor: CLAUDE,
    load: async (options) => new (await import("./claude/driver.ts")).ClaudeDriver(options),
  },
  {
    descriptor: CODEX,
    load: async (options) => new (await import("./codex/driver.ts")).CodexDriver(options),
  },
];

/** The descriptors of the agents that Flint knows by name. */
export const KNOWN_AGENTS: readonly AgentDescriptor[] = [
  ...OWN_PROTOCOLS.map(({ descriptor }) => descriptor),
  ...ACP_PROFILES,
];

/** An agent of the configuration: its id, the command that starts it, and how to run it. */
export interface NamedAgent {
  readonly id: string;
  /** The kind of agent that it is, where its id is a name of the user's own: claude, codex or acp. */
  readonly driver?: string | undefined;
  /** Its default model, without its id, if the user configured one. */
  readonly model?: string | undefined;
  /** The configured command; identifies the agent if its id does not. */
  readonly command: readonly string[];
  readonly options: AgentOptions;
}

/** Every agent that Flint can drive: its own first, then those that are named. Loads and starts nothing. */
export function builtInDrivers(
  native: Partial<NativeOptions> = {},
  agents: readonly NamedAgent[] = [],
): readonly Driver[] {
  return [new NativeDriver(native), ...agents.map(agentDriver)];
}

/**
 * Returns the deviations of a Codex from Flint's part of its protocol. Rejects if that Codex cannot print its
 * schemas.
 */
export async function codexDrift(program: readonly string[], run: RunProgram): Promise<readonly string[]> {
  return (await import("./codex/drift.ts")).codexDrift(program, run);
}

function agentDriver({ id, driver = id, command, options: given, model }: NamedAgent): Driver {
  const options = model === undefined ? given : { ...given, model: `${id}/${model}` };
  const own = OWN_PROTOCOLS.find(({ descriptor }) => descriptor.id === driver);
  if (own === undefined) {
    const profile = acpProfile(id, command);
    const load: LoadDriver = async (all) =>
      new (await import("./acp/driver.ts")).AcpDriver({ ...all, profile });
    return new LazyDriver(profile, options, load);
  }
  if (id === own.descriptor.id) return new LazyDriver(own.descriptor, options, own.load);
  const descriptor = instanceOf(own.descriptor, id);
  const load: LoadDriver = async (all) => {
    const { InstanceDriver } = await import("./shared/instance.ts");
    return new InstanceDriver(descriptor, await own.load(all));
  };
  return new LazyDriver(descriptor, options, load);
}

/** The facts of a known agent under another name. It gets none of the user's variables but its own. */
function instanceOf(descriptor: AgentDescriptor, id: string): AgentDescriptor {
  const { executableVariable: _shared, ...facts } = descriptor;
  return {
    ...facts,
    id,
    kind: descriptor.id,
    displayName: `${descriptor.displayName} (${id})`,
    ownVariables: /^$/,
  };
}
