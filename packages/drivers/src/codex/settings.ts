import { dirname, isAbsolute, resolve } from "node:path";
import { type McpServerConfig, NO_STEERING, type Steering } from "@flint/core/ports";
import {
  type ClientTool,
  isUnconfined,
  PERSONALITY,
  type SandboxPolicy,
  type ThreadSettings,
  type UserInput,
} from "@flint/protocol";
import {
  type CodexApprovalPolicy,
  type CodexDynamicTool,
  type CodexParams,
  type CodexSandboxMode,
  type CodexSandboxPolicy,
  type CodexUserInput,
  codexSandboxPolicy,
} from "@flint/protocol/codex";
import { usesProject } from "../shared/folders/project-files.ts";
import { CODEX_KEYS } from "./descriptor.ts";
import { COLLABORATION_MODE, modelName, REASONING_EFFORT } from "./models.ts";

/** Instructions to Codex on how to ask for permissions beyond the sandbox. */
const SANDBOX_INSTRUCTIONS =
  "Commands run in the sandbox of this session. If one has to run outside of it, run it with sandbox_permissions set to require_escalated and a justification; the user is asked, and it runs once. A connection to a new host waits while the user is asked.";

/**
 * Returns instructions on commits: only at the top of a repository does Codex have a git directory that it
 * can write.
 */
function commitWords({ git, sandboxPolicy }: ThreadSettings): string {
  return git === "off" || sandboxPolicy.type === "readOnly"
    ? "The git directory is read-only, so git add, git commit and the like cannot work: give the user the commands instead."
    : "At the top of a repository, commits are made in a private copy of the git directory and offered to the user when the turn ends. In a folder further down, the git directory is read-only, and git add and git commit cannot work.";
}

/**
 * With `untrusted` Codex asks before every command and change, and Flint decides who answers. With the approval policy
 * "never" Flint answers itself, and what its rules forbid stays forbidden.
 */
const APPROVAL_POLICY: CodexApprovalPolicy = "untrusted";

/**
 * Codex's sandbox for commands: none of its own inside of Flint's. Its own cannot work there, and after a failure that it
 * takes for a denial Codex runs an accepted command a second time (0.166.0, November 2026).
 */
export function commandSandbox(policy: SandboxPolicy): CodexSandboxPolicy {
  if (isUnconfined(policy)) return codexSandboxPolicy(policy);
  return { type: "externalSandbox", networkAccess: "restricted" };
}

/** The sandbox of a thread until its first turn sets it exactly: never a wider one. */
function sandboxModeOf({ type }: SandboxPolicy): CodexSandboxMode {
  return type === "dangerFullAccess" ? "danger-full-access" : "read-only";
}

/** The parameters that start, resume or fork a thread. */
export function threadParams(
  settings: ThreadSettings,
  mcpServers: readonly McpServerConfig[],
  temporary: string,
  steering: Steering = NO_STEERING,
  more: Readonly<Record<string, unknown>> = {},
): CodexParams<"thread/start"> {
  const instructions = [
    settings.developerInstructions ?? "",
    isUnconfined(settings.sandboxPolicy) ? "" : `${SANDBOX_INSTRUCTIONS} ${commitWords(settings)}`,
  ];
  const developerInstructions = instructions.filter((text) => text !== "").join("\n\n");
  return {
    model: modelName(settings.model) ?? null,
    cwd: settings.cwd,
    approvalPolicy: APPROVAL_POLICY,
    approvalsReviewer: "user",
    sandbox: sandboxModeOf(settings.sandboxPolicy),
    config: {
      projects: projectTrust(settings.cwd, steering),
      ...more,
      // Commands would get the keys of Codex itself (0.166.0, November 2026).
      "shell_environment_policy.exclude": [...CODEX_KEYS],
      "shell_environment_policy.set": { TMPDIR: temporary },
      ...(mcpServers.length === 0 ? {} : { mcp_servers: mcpConfig(mcpServers) }),
    },
    ...(developerInstructions === "" ? {} : { developerInstructions }),
  };
}

/**
 * Marks the workspace and all folders above it as untrusted, unless all that steers Codex there is trusted: then from the
 * workspace up to the highest folder with such a file. Without this Codex would start the MCP servers that a
 * workspace names, and write into the user's settings that it is trusted (0.166.0, November 2026).
 */
function projectTrust(cwd: string, steering: Steering): Record<string, unknown> {
  const known = usesProject(steering) ? steering.trusted.map(({ folder }) => folder) : [];
  const isTrusted = (folder: string) => known.some((trusted) => `${folder}/`.startsWith(`${trusted}/`));
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.push(folder);
    if (dirname(folder) === folder) break;
  }
  return Object.fromEntries(
    folders.map((folder) => [folder, { trust_level: isTrusted(folder) ? "trusted" : "untrusted" }]),
  );
}

function mcpConfig(servers: readonly McpServerConfig[]): Record<string, unknown> {
  return Object.fromEntries(servers.map((server) => [server.name, mcpEntry(server)]));
}

function mcpEntry(server: McpServerConfig): Record<string, unknown> {
  if (server.type === "http") return { url: server.url, http_headers: { ...server.headers } };
  return { command: server.command, args: [...server.args], env: { ...server.env } };
}

/** The parameters of a turn that come from the settings. `model` is the one that the thread has now. */
export function turnParams(settings: ThreadSettings, model: string) {
  const { config } = settings;
  const effort = config[REASONING_EFFORT];
  const personality = config[PERSONALITY] ?? settings.personality;
  const mode = config[COLLABORATION_MODE];
  const chosen = modelName(settings.model) ?? model;
  const plan = mode === "plan" ? ("plan" as const) : ("default" as const);
  const modeSettings = { model: chosen, reasoning_effort: effort ?? null, developer_instructions: null };
  return {
    cwd: settings.cwd,
    approvalPolicy: APPROVAL_POLICY,
    approvalsReviewer: "user",
    sandboxPolicy: commandSandbox(settings.sandboxPolicy),
    model: chosen,
    summary: settings.summary ?? "auto",
    ...(effort === undefined ? {} : { effort }),
    ...(personality === undefined ? {} : { personality: personality === "default" ? "none" : personality }),
    ...(mode === undefined ? {} : { collaborationMode: { mode: plan, settings: modeSettings } }),
  } as const satisfies Partial<CodexParams<"turn/start">>;
}

/** The user's input as Codex takes it, with absolute paths. */
export function inputOf(input: readonly UserInput[], cwd: string): CodexUserInput[] {
  return input.map((piece) => pieceOf(piece, cwd));
}

function pieceOf(piece: UserInput, cwd: string): CodexUserInput {
  switch (piece.type) {
    case "text":
      return textInput(piece.text);
    case "image":
      return { type: "image", url: piece.url };
    case "localImage":
      return { type: "localImage", path: absolute(piece.path, cwd) };
    case "skill":
      if (piece.path === undefined) return textInput(`$${piece.name}`);
      return { type: "skill", name: piece.name, path: absolute(piece.path, cwd) };
    case "mention":
      return { type: "mention", name: piece.name, path: absolute(piece.path, cwd) };
  }
}

/** Text as input. */
export function textInput(text: string): CodexUserInput {
  return { type: "text", text, text_elements: [] };
}

function absolute(path: string, cwd: string): string {
  return isAbsolute(path) ? path : resolve(cwd, path);
}

/** The client-provided tools as a parameter of `thread/start`; Codex stores them with the thread. */
export function dynamicTools(tools: readonly ClientTool[]): { readonly dynamicTools?: CodexDynamicTool[] } {
  if (tools.length === 0) return {};
  const namespaces = new Map<string, ClientTool[]>();
  const ungrouped: CodexDynamicTool[] = [];
  for (const tool of tools) {
    const { namespace } = tool;
    if (namespace === undefined) ungrouped.push(functionTool(tool));
    else namespaces.set(namespace, [...(namespaces.get(namespace) ?? []), tool]);
  }
  const grouped = [...namespaces].map(([name, members]): CodexDynamicTool => {
    const description = `Tools of ${name}.`;
    return { type: "namespace", name, description, tools: members.map(functionTool) };
  });
  return { dynamicTools: [...ungrouped, ...grouped] };
}

function functionTool({ name, description, inputSchema }: ClientTool) {
  return { type: "function", name, description, inputSchema } as const;
}
