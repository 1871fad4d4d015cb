import { join } from "node:path";
import { NO_STEERING, type PrivateFolder, type SessionSpec, type Steering } from "@flint/core/ports";
import { OPENCODE_SETTINGS } from "./agent-folders.ts";

/**
 * The files of a project that steer an agent, beside text for its model: settings, hooks, plugins, MCP
 * servers. Until all of them are trusted, the agent is started without them.
 */
export interface AgentProjectFiles {
  /** The files and folders whose content the user trusts. */
  readonly files: readonly string[];
  /**
   * Paths that the agent sees empty until then. None if a flag or a variable of the agent makes it ignore all
   * of them.
   */
  readonly hides: readonly string[];
  /**
   * Folders in which it has to make files when it starts. It sees a private version of them, in which these names can be
   * neither changed nor made, and nothing that it makes lasts.
   */
  readonly writes?: readonly { readonly folder: string; readonly settings: readonly string[] }[];
  /**
   * Files of MCP servers that Flint reads for it. It sees them empty even if they are trusted: it would start their programs
   * in its own sandbox, without looking whether their files have changed since.
   */
  readonly servers?: readonly string[];
}

const CLAUDE_FILES = [
  ...[
    "settings.json",
    "settings.local.json",
    "hooks",
    "agents",
    "commands",
    "skills",
    "plugins",
    "output-styles",
    "rules",
    "workflows",
    "routines",
    "scheduled_tasks.json",
    "loop.md",
    "launch.json",
  ],
].map((name) => `.claude/${name}`);

/** Claude: `--setting-sources` without `project` and `local`, and `--strict-mcp-config` (2.1.197). */
export const CLAUDE_PROJECT: AgentProjectFiles = { files: CLAUDE_FILES, hides: [] };

/** Claude behind an adapter that takes no such flag: it starts the MCP servers of the project itself. */
export const CLAUDE_ACP_PROJECT: AgentProjectFiles = {
  files: [...CLAUDE_FILES, ".mcp.json"],
  hides: [".claude", ".mcp.json"],
  servers: [".mcp.json"],
};

const CODEX_FILES = [
  ...["config.toml", "hooks.json", "hooks", "rules", "prompts", "skills", "agents"].map(
    (name) => `.codex/${name}`,
  ),
  ".agents/skills",
];

/** Codex: a project whose `trust_level` is `untrusted` (0.166.0). */
export const CODEX_PROJECT: AgentProjectFiles = { files: CODEX_FILES, hides: [] };

/** Codex behind an adapter that takes no settings for single projects. */
export const CODEX_ACP_PROJECT: AgentProjectFiles = { files: CODEX_FILES, hides: [".codex", ".agents"] };

const OPENCODE_FILES = [
  ...[".opencode", "opencode.json", "opencode.jsonc"],
  ...[".agents/skills", ".claude/skills"],
];

/** OpenCode: plugins and the skills of others are loaded in spite of `OPENCODE_DISABLE_PROJECT_CONFIG` (1.18.33). */
export const OPENCODE_PROJECT: AgentProjectFiles = {
  files: OPENCODE_FILES,
  hides: OPENCODE_FILES,
  // It makes a .gitignore there if it is missing, and does not start where it cannot.
  writes: [{ folder: ".opencode", settings: OPENCODE_SETTINGS }],
};

/** Gemini: it takes variables from `.env`, among them the address of its model, and skills from `.agents` (0.61.0). */
export const GEMINI_PROJECT: AgentProjectFiles = {
  files: [".gemini", ".env", ".agents/skills"],
  hides: [".gemini", ".env", ".agents"],
};

/**
 * Goose: it runs the hooks of plugins in `.agents/plugins`, and takes skills and agents from the folders of others too
 * (1.38). Its hints are text for the model.
 */
export const GOOSE_PROJECT: AgentProjectFiles = {
  files: [
    ".goose",
    ".agents/plugins",
    ".agents/skills",
    ".agents/agents",
    ".claude/skills",
    ".claude/agents",
  ],
  hides: [".goose", ".agents", ".claude"],
};

const ALL = [CLAUDE_ACP_PROJECT, CODEX_ACP_PROJECT, OPENCODE_PROJECT, GEMINI_PROJECT, GOOSE_PROJECT];

/** An agent about which nothing is known: it may read what any other agent reads, and a folder of its own name. */
export function unknownProject(name: string): AgentProjectFiles {
  const own = /^[a-z][a-z0-9_-]*$/i.test(name) ? [`.${name}`] : [];
  const hides = [...ALL.flatMap((project) => project.hides), ...own];
  const files = [...new Set([...ALL.flatMap((project) => project.files), ...own])];
  return { files, hides: [...new Set(hides)], servers: ALL.flatMap(({ servers = [] }) => servers) };
}

/** Reports whether an agent may use the files of the project: there are some, and all of them are trusted. */
export function usesProject({ trusted, untrusted }: Steering): boolean {
  return trusted.length > 0 && untrusted.length === 0;
}

/**
 * The absolute paths that an agent must see empty. Without a sandbox it starts the servers of a trusted project itself.
 */
export function maskedPaths(
  { hides, servers = [] }: AgentProjectFiles,
  { trusted, untrusted }: Steering,
  isSandboxed = true,
): string[] {
  const folders = [...new Set(untrusted.map(({ folder }) => folder))];
  const hidden = folders.flatMap((folder) => hides.map((name) => join(folder, name)));
  const named = isSandboxed ? trusted.filter(({ path }) => servers.includes(path)) : [];
  return [...new Set([...hidden, ...named.map(({ folder, path }) => join(folder, path))])];
}

/**
 * Returns the folders that an agent sees a private version of, because they are trusted and the agent writes
 * in them.
 */
export function privateProjectFolders(
  { writes = [] }: AgentProjectFiles,
  { trusted }: Steering,
): PrivateFolder[] {
  const isWritten = (name: string) => writes.find(({ folder }) => folder === name);
  return trusted.flatMap(({ folder, path }) => {
    const written = isWritten(path);
    return written === undefined ? [] : [{ path: join(folder, path), readOnly: written.settings }];
  });
}

/** Returns the files that steer the agent of a session at present. */
export async function steeringOf(spec: Pick<SessionSpec, "steering">): Promise<Steering> {
  return (await spec.steering?.()) ?? NO_STEERING;
}
