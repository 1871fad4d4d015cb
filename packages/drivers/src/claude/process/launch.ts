import { lstat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Sandbox, Steering } from "@flint/core/ports";
import { exists, readRegularText } from "@flint/host/files";
import { isUnconfined, type ThreadSettings } from "@flint/protocol";
import { type AgentProgram, CLAUDE_HOSTS, CLAUDE_KEYS } from "../../shared/agent.ts";
import type { AgentProcessSpec } from "../../shared/agent-process.ts";
import { CLAUDE_FOLDER } from "../../shared/folders/agent-folders.ts";
import { folderPath } from "../../shared/folders/agent-paths.ts";
import { usesProject } from "../../shared/folders/project-files.ts";
import { claudeKeys } from "../../shared/keys/claude-keys.ts";
import { claudeModel } from "../models.ts";

/** Reference to the Claude session that a process works on. */
export interface SessionReference {
  readonly id: string;
  /** True if Claude has it already, so that it is resumed. */
  readonly isKnown: boolean;
  /** Another session that it begins as a copy of. */
  readonly forkOf?: string | undefined;
  /** The last message of that session that the copy has; all of them unless given. */
  readonly forkAt?: string | undefined;
}

/**
 * The address of the offline model, and the folder in which Claude stores its state while it works on that.
 */
export interface OfflineAccess {
  readonly url: string;
  readonly folder: string;
}

/** The program, settings and session for which a Claude process is started. */
export interface ClaudeLaunch {
  readonly program: AgentProgram;
  readonly session: SessionReference;
  readonly threadId: string;
  /** Flint's folder for the state of agents. */
  readonly stateFolder?: string | undefined;
  readonly settings: ThreadSettings;
  readonly sandbox: Sandbox;
  /** The files of the project that steer Claude. */
  readonly steering: Steering;
  /** The user's home folder. */
  readonly home: string;
  /** Undefined if Claude works on its own models. */
  readonly offline: OfflineAccess | undefined;
  /** Number of model steps after which a turn stops. */
  readonly stepLimit?: number | undefined;
}

/** The process to start: Claude's program with the arguments of the session, in the sandbox of the thread. */
export async function claudeLaunch(launch: ClaudeLaunch): Promise<AgentProcessSpec> {
  const { program, session, settings, sandbox, steering, home, offline } = launch;
  const { cwd, sandboxPolicy: policy } = settings;
  const { threadId, stateFolder } = launch;
  const thread = { threadId, stateFolder, resumed: [session.id], copied: [session.forkOf] };
  const instructions = [await claudeInstructions(settings), isUnconfined(policy) ? "" : SANDBOX_INSTRUCTIONS]
    .filter((text) => text !== "")
    .join("\n\n");
  const { stepLimit } = launch;
  const given = { session, settings, instructions, stepLimit, usesProject: usesProject(steering) };
  const commandWith = (variables?: Variables) => [
    ...program.command,
    ...claudeArguments({ ...given, variables }),
  ];
  const environment = claudeEnvironment(program, offline);
  const own = { folders: [CLAUDE_FOLDER], hosts: CLAUDE_HOSTS };
  const keys =
    offline === undefined
      ? await claudeKeys({
          ...{ environment, folder: folderPath(CLAUDE_FOLDER, environment, home), overridesSettings: true },
          start: (variables) => ({
            environment: { ...environment, ...variables },
            command: commandWith(variables),
          }),
        })
      : undefined;
  return {
    name: "Claude",
    command: commandWith(),
    cwd,
    policy,
    environment,
    sandbox,
    home,
    keys,
    thread,
    ...own,
  };
}

type Variables = Readonly<Record<string, string>>;

/** Instructions to Claude on how to ask for permissions beyond the sandbox. */
const SANDBOX_INSTRUCTIONS =
  "Commands run in a sandbox: they write only to the workspace, and a connection to a new host waits while the user is asked. If one command has to run outside of the sandbox, call Bash with dangerouslyDisableSandbox: true, from the folder in which the session began; the user is asked, and it runs once. Do not use it to try again what the user declined.";

const ALWAYS = [
  ...["-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"],
  ...["--include-partial-messages", "--replay-user-messages", "--permission-prompt-tool", "stdio"],
  "--include-hook-events",
  // Whatever the user's own settings allow, Flint's policy decides.
  ...["--permission-mode", "default"],
  // Flint passes on the servers of the workspace that are trusted.
  "--strict-mcp-config",
];

/** The arguments of a process. */
export function claudeArguments({
  session,
  settings,
  instructions,
  stepLimit,
  usesProject = false,
  variables,
}: {
  readonly session: SessionReference;
  /** Text that is appended to Claude's system prompt. */
  readonly instructions: string;
  readonly settings: Pick<ThreadSettings, "model" | "sandboxPolicy">;
  readonly stepLimit?: number | undefined;
  /** True if Claude uses the settings of the project. */
  readonly usesProject?: boolean;
  /** Variables that win over those in Claude's settings; everybody on this machine can read them. */
  readonly variables?: Variables | undefined;
}): string[] {
  const model = claudeModel(settings.model);
  const own = {
    // A sandbox inside a sandbox does not work; the outer one covers everything that Claude does.
    ...(isUnconfined(settings.sandboxPolicy) ? {} : { sandbox: { enabled: false } }),
    ...(variables === undefined ? {} : { env: variables }),
  };
  return [
    ...ALWAYS,
    // Files of the workspace could bring hooks and plugins, which would run without the user's trust.
    ...["--setting-sources", usesProject ? "user,project,local" : "user"],
    ...sessionArguments(session),
    ...(model === undefined ? [] : ["--model", model]),
    ...(stepLimit === undefined ? [] : ["--max-turns", String(stepLimit)]),
    ...(instructions === "" ? [] : ["--append-system-prompt", instructions]),
    ...(Object.keys(own).length === 0 ? [] : ["--settings", JSON.stringify(own)]),
  ];
}

/** A copy is given its id, so that it is known before Claude's first frame. */
function sessionArguments({ id, isKnown, forkOf, forkAt }: SessionReference): string[] {
  if (isKnown) return ["--resume", id];
  const copied = forkOf === undefined ? [] : ["--resume", forkOf, "--fork-session"];
  const upTo = forkAt === undefined ? [] : ["--resume-session-at", forkAt];
  return [...copied, ...upTo, "--session-id", id];
}

/** The environment of Claude, on its own models or on the offline model. */
export function claudeEnvironment(
  { environment }: AgentProgram,
  offline: OfflineAccess | undefined,
): Readonly<Record<string, string>> {
  const own = {
    ...environment,
    DISABLE_AUTOUPDATER: "1",
    // Set if Claude itself started Flint; Claude refuses to run inside itself.
    CLAUDECODE: "",
  };
  if (offline === undefined) return own;
  return {
    ...Object.fromEntries(Object.entries(own).filter(([name]) => !CLAUDE_KEYS.includes(name))),
    ANTHROPIC_BASE_URL: offline.url,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CONFIG_DIR: offline.folder,
  };
}

/** The names of instruction files; only the first one in a folder is used. */
const FILE_NAMES = ["CLAUDE.md", "AGENTS.md"];

const MAX_BYTES = 32 * 1024;

/** Maximum number of folders above the workspace that are searched. */
const MAX_LEVELS = 64;

/**
 * Returns the text that is appended to Claude's system prompt: the instruction files of the repository and
 * those of the thread. Claude itself reads no files of the workspace at its start, because settings and hooks
 * are among them.
 */
async function claudeInstructions({ cwd, developerInstructions }: ThreadSettings): Promise<string> {
  const folders = await foldersUpToRoot(cwd);
  const found = await Promise.all(folders.map(instructionsIn));
  const project = found.toReversed().filter((text) => text !== undefined);
  return [...project, ...(developerInstructions === undefined ? [] : [developerInstructions])].join("\n\n");
}

async function instructionsIn(folder: string): Promise<string | undefined> {
  for (const name of FILE_NAMES) {
    const path = join(folder, name);
    // A link could lead to a file that the model must not see.
    const text = (await isLink(path)) ? undefined : await readRegularText(path, MAX_BYTES);
    if (typeof text === "string") return `What ${path} says about work in this project:\n\n${text}`;
  }
  return undefined;
}

/** The workspace and the folders above it up to the one with `.git`; the workspace alone if there is none. */
async function foldersUpToRoot(cwd: string): Promise<string[]> {
  const folders: string[] = [];
  for (let folder = cwd; folders.length < MAX_LEVELS; folder = dirname(folder)) {
    folders.push(folder);
    if (await exists(join(folder, ".git"))) return folders;
    if (dirname(folder) === folder) break;
  }
  return [cwd];
}

function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}
