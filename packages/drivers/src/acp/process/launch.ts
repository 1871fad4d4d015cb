import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Clock, SessionSpec } from "@flint/core/ports";
import { FlintError, isUnconfined, type ThreadSettings } from "@flint/protocol";
import { type AgentOptions, type AgentProgram, requireProgram } from "../../shared/agent.ts";
import { AgentProcess } from "../../shared/agent-process.ts";
import { defaultFolders } from "../../shared/folders/agent-folders.ts";
import {
  maskedPaths,
  privateProjectFolders,
  steeringOf,
  usesProject,
} from "../../shared/folders/project-files.ts";
import type { AcpProfile, Variables } from "../profile.ts";
import type { AgentHandlers } from "./connection.ts";

/** The facts known about an agent before it is started. */
export interface AcpAgentOptions extends AgentOptions {
  readonly profile: AcpProfile;
  readonly clock: Clock;
  /** A folder for the agent's state while it works on the offline model. */
  offlineFolder(): Promise<string>;
}

/** The purpose and the settings for which an agent is started. */
export interface AgentStart {
  readonly options: AcpAgentOptions;
  readonly spec: Pick<
    SessionSpec,
    "threadId" | "sandbox" | "mcpServers" | "mcpProblem" | "mcpFailed" | "steering"
  >;
  readonly settings: ThreadSettings;
  /** The session to resume. */
  readonly nativeId: string | undefined;
  /** The session to begin with a copy of, if there is none to resume. */
  readonly forkOf?: string | undefined;
  readonly handlers: AgentHandlers;
  /** Aborted if the agent is no longer needed before it has started. */
  readonly signal: AbortSignal;
}

/** Starts an agent's program in the thread's sandbox. Rejects with a FlintError that names what is missing. */
export async function startProcess({ options, spec, settings, nativeId, forkOf }: AgentStart) {
  const { profile } = options;
  const program = await requireProgram(options, profile, settings.cwd);
  const steering = await steeringOf(spec);
  const untrusted = usesProject(steering) ? {} : profile.untrustedVariables;
  const variables = sandboxed(settings, profile, await variablesOf(options, program, settings));
  const folders = profile.folders ?? defaultFolders(basename(program.command[0] ?? ""));
  const environment = { ...variables, ...untrusted };
  const { offlineModel } = options;
  const keys = offlineModel === undefined ? await profile.keys?.(program.command, environment) : undefined;
  const process = await AgentProcess.start({
    name: profile.displayName,
    command: program.command,
    cwd: settings.cwd,
    policy: settings.sandboxPolicy,
    environment,
    keys,
    maskedPaths: maskedPaths(profile.project, steering, !isUnconfined(settings.sandboxPolicy)),
    projectFolders: privateProjectFolders(profile.project, steering),
    folders,
    thread: {
      ...{ threadId: spec.threadId, stateFolder: options.stateFolder },
      ...{ resumed: [nativeId], copied: [forkOf] },
    },
    hosts: profile.hosts,
    sandbox: spec.sandbox,
  });
  return { process, program };
}

/** The variables that make it ask, and keep it on the offline model, override the agent's own settings. */
async function variablesOf(
  { profile, offlineModel, offlineFolder }: AcpAgentOptions,
  { environment }: AgentProgram,
  { approvalPolicy }: ThreadSettings,
): Promise<Variables> {
  const asking = approvalPolicy === "never" ? profile.neverAskVariables : profile.askVariables;
  if (offlineModel === undefined) return { ...environment, ...asking };
  if (profile.offlineVariables === undefined) {
    const message = `${profile.displayName} cannot work on the offline model. Choose another agent, or leave out --offline.`;
    throw new FlintError("unsupported", message);
  }
  const folder = await offlineFolder();
  for (const [name, content] of Object.entries(profile.offlineFiles))
    await writeFile(join(folder, name), content);
  const offline = profile.offlineVariables(await offlineModel(), folder);
  return { ...environment, ...offline, ...asking };
}

/** Adds the variables for an agent that runs in Flint's sandbox. */
function sandboxed(
  { approvalPolicy, sandboxPolicy }: ThreadSettings,
  { sandboxedVariables }: AcpProfile,
  variables: Variables,
): Variables {
  if (isUnconfined(sandboxPolicy)) return variables;
  return { ...variables, ...sandboxedVariables?.(variables, approvalPolicy !== "never") };
}
