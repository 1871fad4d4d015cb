import { homedir } from "node:os";
import { basename } from "node:path";
import type { Clock, SessionSpec } from "@flint/core/ports";
import { FlintError, type ThreadSettings } from "@flint/protocol";
import { type AgentFolder, agentPaths, guessedFolders } from "../../shared/agent-folders.ts";
import type { AgentOptions, AgentProgram } from "../../shared/agent-options.ts";
import { AgentProcess } from "../../shared/agent-process.ts";
import { isConfined } from "../../shared/confined.ts";
import { notInstalled } from "../../shared/descriptor.ts";
import type { AcpProfile } from "../profiles.ts";
import type { AgentServices } from "./connection.ts";

/** What is known about an agent before it is started. */
export interface AcpAgentOptions extends AgentOptions {
  readonly profile: AcpProfile;
  readonly clock: Clock;
  /** A folder for what the agent keeps while it works on the offline model. */
  offlineFolder(): Promise<string>;
}

/** What an agent is started for. */
export interface AgentWish {
  readonly options: AcpAgentOptions;
  readonly spec: Pick<SessionSpec, "sandbox" | "mcpServers">;
  readonly settings: ThreadSettings;
  readonly nativeId: string | undefined;
  /** The session to begin with a copy of, where there is no other. */
  readonly forkOf?: string | undefined;
  readonly services: AgentServices;
  /** Aborted if it is no longer wanted before it is there. */
  readonly signal: AbortSignal;
}

type Variables = Readonly<Record<string, string>>;

/** Starts the program of an agent, confined as the thread is. Rejects with a FlintError that says what is missing. */
export async function startProcess({ options, spec, settings }: AgentWish) {
  const program = await options.program();
  if (program === undefined) throw notInstalled(options.profile);
  const given = confinedAs(settings, options.profile, await environmentOf(options, program, settings));
  const { environment, ...paths } = await agentPaths(
    foldersOf(options.profile, program.command),
    given,
    given.HOME ?? homedir(),
  );
  const process = await AgentProcess.start({
    name: options.profile.displayName,
    command: program.command,
    cwd: settings.cwd,
    policy: settings.sandboxPolicy,
    environment: { ...given, ...environment },
    ...paths,
    sandbox: spec.sandbox,
  });
  return { process, program };
}

/** What makes it ask, and what keeps it off the network's models, is not for the agent's own settings to undo. */
async function environmentOf(
  { profile, offlineModel, offlineFolder }: AcpAgentOptions,
  { environment }: AgentProgram,
  { approvalPolicy }: ThreadSettings,
): Promise<Variables> {
  const asking = approvalPolicy === "never" ? profile.unasked : profile.asking;
  if (offlineModel === undefined) return { ...environment, ...asking };
  if (profile.offline === undefined) {
    const message = `${profile.displayName} cannot work on the offline model. Choose another agent, or leave out --offline.`;
    throw new FlintError("unsupported", message);
  }
  const offline = profile.offline(await offlineModel(), await offlineFolder());
  return { ...environment, ...offline, ...asking };
}

/** What differs for an agent that asks and cannot leave what the thread's policy allows. */
function confinedAs(
  { approvalPolicy, sandboxPolicy }: ThreadSettings,
  { confined }: AcpProfile,
  given: Variables,
): Variables {
  const isAsked = approvalPolicy !== "never";
  return isAsked && isConfined(sandboxPolicy) ? { ...given, ...confined?.(given) } : given;
}

function foldersOf({ folders }: AcpProfile, [program = ""]: readonly string[]): readonly AgentFolder[] {
  return folders ?? guessedFolders(basename(program));
}
