import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, extname, join } from "node:path";
import type { Clock, SessionSpec } from "@flint/core/ports";
import { FlintError, type ThreadSettings } from "@flint/protocol";
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
  const environment = confinedAs(settings, options.profile, await environmentOf(options, program, settings));
  const own = ownPaths(options.profile, { command: program.command, environment });
  await makeFolders(options.profile, own);
  const process = await AgentProcess.start({
    name: options.profile.displayName,
    command: program.command,
    cwd: settings.cwd,
    policy: settings.sandboxPolicy,
    environment,
    ownPaths: own,
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

/** Where the agent keeps its state. One that is not known is taken to name its folders as it is named itself. */
function ownPaths(profile: AcpProfile, { command, environment }: AgentProgram): string[] {
  const moved = profile.stateVariables.flatMap((variable) => environment[variable] ?? []);
  if (moved.length > 0) return moved;
  const home = environment.HOME ?? homedir();
  const name = basename(command[0] ?? "");
  const guessed = [
    `.${name}`,
    ...[".config", ".cache", ".local/share", ".local/state"].map((at) => join(at, name)),
  ];
  const isGuess = profile.stateFolders.length === 0 && /^[a-z][a-z0-9_-]*$/i.test(name);
  return (isGuess ? guessed : profile.stateFolders).map((folder) => join(home, folder));
}

/** An agent that runs for the first time cannot make its folders when it is confined: only what is there is shared. */
async function makeFolders({ stateFolders }: AcpProfile, paths: readonly string[]): Promise<void> {
  if (stateFolders.length === 0) return;
  const folders = paths.filter((path) => extname(path) === "");
  // Expected: a home that cannot be written. The agent says so itself, if it minds.
  await Promise.all(
    folders.map((path) => mkdir(path, { recursive: true, mode: 0o700 }).catch(() => undefined)),
  );
}
