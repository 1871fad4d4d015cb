import { dirname, isAbsolute, resolve } from "node:path";
import type { McpServerConfig } from "@flint/core/ports";
import { isUnconfined, type SandboxPolicy, type ThreadSettings, type UserInput } from "@flint/protocol";
import {
  type CodexApprovalPolicy,
  type CodexParams,
  type CodexSandboxMode,
  type CodexSandboxPolicy,
  type CodexUserInput,
  codexSandboxPolicy,
} from "@flint/protocol/codex";
import { COLLABORATION_MODE, modelName, PERSONALITY, REASONING_EFFORT } from "./models.ts";

/** What Codex is told so that it does not try what is refused here anyway. */
const SANDBOX_NOTE =
  "Commands always run in the sandbox of this session. Requests to run one outside of it (sandbox_permissions) are declined without asking anybody; say what you would need instead.";

/**
 * With `untrusted` Codex asks before every command and change, and Flint decides who answers. That holds for a user too
 * who never wants to be asked: Flint answers by itself then, and what its rules forbid stays forbidden.
 */
const APPROVAL_POLICY: CodexApprovalPolicy = "untrusted";

/** The sandbox of a policy. `temporary` is the one folder outside of the workspace that commands may write. */
export function sandboxPolicyOf(policy: SandboxPolicy, temporary: string): CodexSandboxPolicy {
  const told = codexSandboxPolicy(policy);
  if (told.type !== "workspaceWrite") return told;
  const writableRoots = [...told.writableRoots, temporary];
  return { ...told, writableRoots, excludeTmpdirEnvVar: true, excludeSlashTmp: true };
}

/** What is behind a thread until its first turn says it exactly: never more than that. */
function sandboxModeOf({ type }: SandboxPolicy): CodexSandboxMode {
  return type === "dangerFullAccess" ? "danger-full-access" : "read-only";
}

/** What a thread begins or goes on with. */
export function openingOf(
  settings: ThreadSettings,
  mcpServers: readonly McpServerConfig[],
  temporary: string,
): CodexParams<"thread/start"> {
  const instructions = [
    settings.developerInstructions ?? "",
    !isUnconfined(settings.sandboxPolicy) ? SANDBOX_NOTE : "",
  ];
  const told = instructions.filter((text) => text !== "").join("\n\n");
  return {
    model: modelName(settings.model) ?? null,
    cwd: settings.cwd,
    approvalPolicy: APPROVAL_POLICY,
    approvalsReviewer: "user",
    sandbox: sandboxModeOf(settings.sandboxPolicy),
    config: {
      projects: untrusted(settings.cwd),
      "shell_environment_policy.set": { TMPDIR: temporary },
      ...(mcpServers.length === 0 ? {} : { mcp_servers: mcpConfig(mcpServers) }),
    },
    ...(told === "" ? {} : { developerInstructions: told }),
  };
}

/**
 * No folder of the workspace has a say over Codex: without this it would start the MCP servers that a workspace names,
 * and write into the user's settings that it is trusted (0.166.0, November 2026).
 */
function untrusted(cwd: string): Record<string, unknown> {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.push(folder);
    if (dirname(folder) === folder) break;
  }
  return Object.fromEntries(folders.map((folder) => [folder, { trust_level: "untrusted" }]));
}

function mcpConfig(servers: readonly McpServerConfig[]): Record<string, unknown> {
  return Object.fromEntries(servers.map((server) => [server.name, mcpEntry(server)]));
}

function mcpEntry(server: McpServerConfig): Record<string, unknown> {
  if (server.type === "http") return { url: server.url, http_headers: { ...server.headers } };
  return { command: server.command, args: [...server.args], env: { ...server.env } };
}

/** What a turn works with. `model` is the one that the thread has now. */
export function workingOf(settings: ThreadSettings, temporary: string, model: string) {
  const { config } = settings;
  const effort = config[REASONING_EFFORT];
  const personality = config[PERSONALITY];
  const mode = config[COLLABORATION_MODE];
  const chosen = modelName(settings.model) ?? model;
  const plan = mode === "plan" ? ("plan" as const) : ("default" as const);
  const modeSettings = { model: chosen, reasoning_effort: effort ?? null, developer_instructions: null };
  return {
    cwd: settings.cwd,
    approvalPolicy: APPROVAL_POLICY,
    approvalsReviewer: "user",
    sandboxPolicy: sandboxPolicyOf(settings.sandboxPolicy, temporary),
    model: chosen,
    summary: "auto",
    ...(effort === undefined ? {} : { effort }),
    ...(personality === undefined ? {} : { personality: personality === "default" ? "none" : personality }),
    ...(mode === undefined ? {} : { collaborationMode: { mode: plan, settings: modeSettings } }),
  } as const satisfies Partial<CodexParams<"turn/start">>;
}

/** What a user sends, in Codex's words. Paths are told from the workspace. */
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

/** A piece of text. */
export function textInput(text: string): CodexUserInput {
  return { type: "text", text, text_elements: [] };
}

function absolute(path: string, cwd: string): string {
  return isAbsolute(path) ? path : resolve(cwd, path);
}
