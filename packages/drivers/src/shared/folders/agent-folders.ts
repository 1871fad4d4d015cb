import { join } from "node:path";
import { CLAUDE_TRANSCRIPTS } from "../sessions/claude-transcripts.ts";
import { CODEX_TRANSCRIPTS } from "../sessions/codex-transcripts.ts";
import type { Transcripts } from "../sessions/transcripts.ts";
import { CLAUDE_LOGIN, CODEX_LOGIN, GEMINI_LOGINS, type LoginFile, OPENCODE_LOGINS } from "./login-files.ts";
import { claudeAddresses, codexAddresses, geminiAddresses, opencodeAddresses } from "./model-addresses.ts";

/**
 * A folder of an agent's own, and what a sandboxed agent may do with each name in it. Settings, plugins, hooks and shell
 * snapshots are code that runs later, outside of any sandbox, so only sessions and logins last. Names of folders end with
 * a slash. All other files are read-only, and what the agent adds is deleted with its process.
 */
export interface AgentFolder {
  /** Its path in the user's home. */
  readonly path: string;
  /** The variable that moves it, and the path below what that names. */
  readonly movedBy?: { readonly variable: string; readonly below?: string };
  /**
   * Paths that are read-only even if they are missing: a command could otherwise make a file that its own
   * agent obeys at once, for example about when to ask.
   */
  readonly settings?: readonly string[];
  /** Paths that it writes for good: its sessions, and all that it needs to resume them. */
  readonly sessions?: readonly string[];
  /** The same for an agent that gets only the sessions of its thread, with the format of those that are published. */
  readonly threadSessions?: { readonly names: readonly string[]; readonly transcripts: Transcripts };
  /**
   * Paths that it does not see and makes for itself, because it has to write there and none of it may last.
   * Logs are among them: an agent outside of the sandbox would append to the target of any link in their
   * place.
   */
  readonly hidden?: readonly string[] | "everything";
  /**
   * Files that it gets a copy of, which is stored if it is a renewed login. Those of an unknown agent are
   * found by name.
   */
  readonly logins?: readonly LoginFile[] | "likely";
  /** Files that it gets a copy of that is never stored. */
  readonly copies?: readonly string[];
  /** Files beside the folder that it gets a copy of in it, unless the folder was moved. Never stored. */
  readonly copiesBeside?: readonly string[];
  /** Variables that name a path in the folder. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The same, in a sandbox only. */
  readonly sandboxVariables?: Readonly<Record<string, string>>;
  /** Reads where the user's settings in it say that its model is: it connects there without a question. */
  readonly modelAddresses?: (folder: string) => Promise<readonly string[]>;
}

/** A folder that a variable can move. */
export type MovableFolder = AgentFolder & Required<Pick<AgentFolder, "movedBy">>;

/**
 * Claude Code 2.1. Shells that it starts source the snapshots, and what hooks leave in session-env. Its main file, which
 * names MCP servers, is beside the folder, unless a variable names the folder.
 */
export const CLAUDE_FOLDER: MovableFolder = {
  path: ".claude",
  movedBy: { variable: "CLAUDE_CONFIG_DIR" },
  settings: [
    ...["settings.json", "CLAUDE.md", "keybindings.json", "agents/", "commands/", "skills/", "plugins/"],
    ...["hooks/", "output-styles/", "rules/", "workflows/"],
  ],
  threadSessions: {
    names: ["projects", "file-history", "todos", "tasks", "plans"],
    transcripts: CLAUDE_TRANSCRIPTS,
  },
  hidden: [
    ...["shell-snapshots/", "session-env/", "sessions/", "backups/", "cache/", "statsig/", "telemetry/"],
    ...["debug/", "history.jsonl", "stats-cache.json", "mcp-needs-auth-cache.json"],
  ],
  logins: [CLAUDE_LOGIN],
  copies: [".claude.json", ".config.json"],
  copiesBeside: [".claude.json"],
  sandboxVariables: { CLAUDE_CONFIG_DIR: "" },
  modelAddresses: claudeAddresses,
};

/** Codex 0.166. A running Codex looks in tmp first for programs. Its indexes are made again by each process. */
export const CODEX_FOLDER: MovableFolder = {
  path: ".codex",
  movedBy: { variable: "CODEX_HOME" },
  settings: [
    ...["config.toml", "hooks.json", "AGENTS.md", "rules/", "skills/", "prompts/", "plugins/", "hooks/"],
    "agents/",
  ],
  threadSessions: {
    names: ["sessions", "archived_sessions", "thread-writer-locks", "generated_images", "attachments"],
    transcripts: CODEX_TRANSCRIPTS,
  },
  hidden: [
    ...["tmp/", ".tmp/", "shell_snapshots/", "cache/", "log/", "history.jsonl", "version.json"],
    "flint-index/",
  ],
  logins: [CODEX_LOGIN],
  copies: ["installation_id", "models_cache.json"],
  sandboxVariables: { CODEX_SQLITE_HOME: "flint-index" },
  modelAddresses: codexAddresses,
};

/** Files that OpenCode 1.18 reads in its folder of settings, and in that of a project. */
export const OPENCODE_SETTINGS: readonly string[] = [
  ...["opencode.json", "opencode.jsonc", "config.json", "AGENTS.md"],
  ...["agent", "command", "mode", "plugin", "skill", "tool"].flatMap((name) => [`${name}/`, `${name}s/`]),
  "themes/",
];

/**
 * OpenCode 1.18. Plugins are programs, snapshots and repos are repositories whose settings git obeys, and a database
 * cannot be shared without the files beside it.
 */
export const OPENCODE_FOLDERS: readonly AgentFolder[] = [
  {
    path: ".config/opencode",
    movedBy: { variable: "XDG_CONFIG_HOME", below: "opencode" },
    settings: OPENCODE_SETTINGS,
    modelAddresses: opencodeAddresses,
  },
  { path: ".cache/opencode", movedBy: { variable: "XDG_CACHE_HOME", below: "opencode" } },
  {
    path: ".local/state/opencode",
    movedBy: { variable: "XDG_STATE_HOME", below: "opencode" },
    hidden: "everything",
  },
  {
    path: ".local/share/opencode",
    movedBy: { variable: "XDG_DATA_HOME", below: "opencode" },
    sessions: ["storage/", "flint/"],
    hidden: [
      ...["log/", "snapshot/", "repos/", "tool-output/"],
      ...["opencode.db", "opencode.db-wal", "opencode.db-shm"],
    ],
    logins: OPENCODE_LOGINS,
    variables: { OPENCODE_DB: "flint/opencode.db" },
  },
];

/** Gemini 0.61. It runs programs in tmp, and history has repositories whose settings git obeys. */
export const GEMINI_FOLDER: AgentFolder = {
  path: ".gemini",
  movedBy: { variable: "GEMINI_CLI_HOME", below: ".gemini" },
  // An empty .env would hide that of the home folder, so only an existing one is read-only.
  settings: [
    ...["settings.json", "trustedFolders.json", "GEMINI.md", "extensions/", "commands/", "policies/"],
    ...["skills/", "agents/", "hooks/"],
  ],
  hidden: ["tmp/", "history/"],
  logins: GEMINI_LOGINS,
  copies: ["projects.json", "installation_id"],
  modelAddresses: geminiAddresses,
};

/** Goose. */
export const GOOSE_FOLDERS: readonly AgentFolder[] = [
  { path: ".config/goose", movedBy: { variable: "XDG_CONFIG_HOME", below: "goose" } },
  {
    path: ".local/share/goose",
    movedBy: { variable: "XDG_DATA_HOME", below: "goose" },
    sessions: ["sessions/"],
  },
  { path: ".local/state/goose", movedBy: { variable: "XDG_STATE_HOME", below: "goose" } },
];

/** The folders of an agent that is not known: those that are commonly named after a program. */
export function defaultFolders(name: string): readonly AgentFolder[] {
  if (!/^[a-z][a-z0-9_-]*$/i.test(name)) return [];
  const bases = [".config", ".cache", ".local/share", ".local/state"].map((base) => join(base, name));
  return [`.${name}`, ...bases].map((path) => ({ path, logins: "likely" }));
}
