import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { BROKER_HOOK } from "@flint/core/ports";
import { readRegularText } from "@flint/host/files";
import { isUnconfined, type SandboxPolicy, type ThreadSettings } from "@flint/protocol";
import {
  type AgentOptions,
  type AgentProgram,
  CODEX_HOSTS,
  CODEX_UNCONFINED_FEATURES,
  outsideCommand,
  requireProgram,
} from "../../shared/agent.ts";
import { hostsIn } from "../../shared/agent-process.ts";
import { type AgentFolder, CODEX_FOLDER } from "../../shared/folders/agent-folders.ts";
import { folderPath } from "../../shared/folders/agent-paths.ts";
import { CODEX, CODEX_KEYS } from "../descriptor.ts";

type Variables = Readonly<Record<string, string>>;

/**
 * The sandbox around a whole process of Codex. Whatever is approved in its threads, a command that Codex runs outside of
 * its own sandbox stays in this one.
 */
export interface ServerSandbox {
  readonly policy: SandboxPolicy;
  /** The workspace of the policy. */
  readonly workspace: string;
  /** The thread whose network and git directory are in it; absent if there is no sandbox. */
  readonly threadId?: string;
}

/** No sandbox. Codex decides for each command whether it may reach the network. */
export const UNSANDBOXED: ServerSandbox = { policy: { type: "dangerFullAccess" }, workspace: "/" };

/** The folder for temporary files in a sandboxed process: a private folder is mounted there. */
export const PRIVATE_TEMPORARY = "/tmp";

/** The sandbox of the process for a thread with these settings. */
export function serverSandbox(
  { sandboxPolicy, cwd }: Pick<ThreadSettings, "sandboxPolicy" | "cwd">,
  threadId: string,
): ServerSandbox {
  return isUnconfined(sandboxPolicy) ? UNSANDBOXED : { policy: sandboxPolicy, workspace: cwd, threadId };
}

/** The same for sandboxes that are the same. Threads without a sandbox share a process, each other thread has its own. */
export function sandboxKey({ policy, workspace, threadId = "" }: ServerSandbox): string {
  const roots = policy.type === "workspaceWrite" ? [...(policy.writableRoots ?? [])].sort() : [];
  return JSON.stringify([policy.type, workspace, threadId, ...roots]);
}

/** A process to start: its command, its environment, its sandbox and its own folders. */
export interface CodexLaunch extends AgentProgram {
  readonly serverSandbox: ServerSandbox;
  readonly folders: readonly AgentFolder[];
  readonly hosts: readonly string[];
  /** Flint's folder for the state of agents. */
  readonly stateFolder?: string | undefined;
}

/** Unloads a thread as soon as nothing subscribes to it, so that another process can resume it. */
const FLAGS = ["-c", "thread_unload_delay_secs=0"];

const SANDBOXED_FLAGS = CODEX_UNCONFINED_FEATURES.flatMap((feature) => ["-c", `features.${feature}=false`]);

/**
 * The hook before each command. It lets a grant take the place of a command that was approved to run beyond the sandbox;
 * without a grant, and where there is no broker, commands run as they are.
 */
export const HOOK_COMMAND = `test -e ${BROKER_HOOK} && exec /bin/sh ${BROKER_HOOK}; exit 0`;

const HOOK_FLAGS = [
  "-c",
  `hooks.PreToolUse=[{matcher="^Bash$",hooks=[{type="command",command=${JSON.stringify(HOOK_COMMAND)}}]}]`,
];

/** The program; rejects with a FlintError that explains how to install it. */
export function codexProgram(options: AgentOptions, workspace?: string): Promise<AgentProgram> {
  return requireProgram(options, CODEX, workspace);
}

/** The app server of Codex on stdin and stdout, in a sandbox. */
export async function codexLaunch(
  options: AgentOptions,
  sandbox: ServerSandbox = UNSANDBOXED,
): Promise<CodexLaunch> {
  const program = await codexProgram(options, sandbox.workspace);
  const offline = await offlineOverrides(options);
  const variables = { NO_COLOR: "1", ...program.environment, ...offline.environment };
  const environment = await withoutUnusedKeys(variables, options);
  const isOutside = isUnconfined(sandbox.policy);
  const start = isOutside ? outsideCommand(program) : program.command;
  const command = [...start, "app-server", ...FLAGS, ...offline.flags];
  const { stateFolder } = options;
  const hosts = [...CODEX_HOSTS, ...offline.hosts];
  const launch = { environment, serverSandbox: sandbox, hosts, stateFolder, folders: [CODEX_FOLDER] };
  if (isOutside) return { ...launch, command };
  return { ...launch, command: [...command, ...SANDBOXED_FLAGS, ...HOOK_FLAGS] };
}

/**
 * The variables without the keys that Codex does not use: its commands could read them. It uses one only where a provider
 * in its configuration names it.
 */
async function withoutUnusedKeys(variables: Variables, { offlineModel }: AgentOptions): Promise<Variables> {
  const path = join(folderPath(CODEX_FOLDER, variables, variables.HOME ?? homedir()), "config.toml");
  const config = offlineModel === undefined ? await readRegularText(path, MOST_BYTES) : undefined;
  const isUnused = (name: string) =>
    CODEX_KEYS.includes(name) && !(typeof config === "string" && config.includes(name));
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !isUnused(name)));
}

const MOST_BYTES = 1024 * 1024;

/** Makes Codex use the offline model, without the user's account and settings. */
async function offlineOverrides({ offlineModel, stateFolder }: AgentOptions) {
  if (offlineModel === undefined) return { flags: [], environment: {}, hosts: [] };
  // Without retries of single requests, Codex reports every second attempt.
  const address = await offlineModel();
  const hosts = hostsIn([address]);
  const provider = `{name="flint",base_url=${JSON.stringify(`${address}/v1`)},wire_api="responses",request_max_retries=0}`;
  const flags = ["-c", "model_provider=flint", "-c", `model_providers.flint=${provider}`];
  if (stateFolder === undefined) return { flags, environment: {}, hosts };
  const home = join(stateFolder, "codex");
  await mkdir(home, { recursive: true, mode: 0o700 });
  return { flags, environment: { CODEX_HOME: home }, hosts };
}
