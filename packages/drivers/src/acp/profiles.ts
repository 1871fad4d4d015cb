import { type AgentFolder, CLAUDE_FOLDER, CODEX_FOLDER } from "../shared/agent-folders.ts";
import type { AgentDescriptor } from "../shared/descriptor.ts";

/** A mode that an agent is known to have, for as long as it has not said so itself. */
export interface KnownMode {
  readonly id: string;
  readonly name: string;
}

/** What is particular to one agent, as data. */
export interface AcpProfile extends AgentDescriptor {
  /** Where it keeps its settings, sessions and login; guessed by its name if not given. */
  readonly folders: readonly AgentFolder[] | undefined;
  /** How long it may take until its session is there. */
  readonly startMs: number;
  /** How long it may take to stop a turn before its process is ended. */
  readonly cancelMs: number;
  /** How long it may say nothing while it neither runs a tool nor waits for an answer. */
  readonly silenceMs: number;
  /** Whether it is told that it may read and write files through Flint. It is answered in any case. */
  readonly fs: boolean;
  /** Whether it may run commands through Flint. */
  readonly terminal: boolean;
  /** Whether declining a call may end the whole turn, which the agent then calls cancelled. */
  readonly rejectionEndsTurn: boolean;
  /** Whether a process of it in which a turn was stopped takes no further one; the session goes on in another. */
  readonly stopsForGood: boolean;
  /** Whether its differences have only the lines that change, not the whole file. */
  readonly tellsFragments: boolean;
  /** Modes in which it acts without asking; refused where the user wants to be asked about everything. */
  readonly modesWithoutAsking: readonly string[];
  readonly modes: readonly KnownMode[];
  /** Variables that make it ask. */
  readonly asking: Variables;
  /** Variables instead of those, for a user who never wants to be asked. */
  readonly unasked: Variables;
  /** How it is logged in without a person: this method, if the agent was given that variable. */
  readonly keyLogin: { readonly methodId: string; readonly variable: string } | undefined;
  /** Variables that make it work on the offline model at an address, with its state in a folder; absent if it cannot. */
  readonly offline: ((address: string, folder: string) => Variables) | undefined;
  /** Variables that it gets besides where it asks and Flint confines it as a whole, made from those that it has. */
  readonly confined: ((given: Variables) => Variables) | undefined;
}

type Variables = Readonly<Record<string, string>>;

/** An agent about which nothing is known. */
export const GENERIC_PROFILE: AcpProfile = {
  id: "generic",
  displayName: "The agent",
  command: [],
  ownVariables: /^$/,
  // Whether it has credentials, it reports itself when a session is opened.
  credentials: { variables: [], files: [] },
  install: undefined,
  login: undefined,
  // The protocol leaves it to the agent when it asks.
  asksToWrite: false,
  stopsWhenIdle: false,
  folders: undefined,
  startMs: 60_000,
  cancelMs: 750,
  silenceMs: 15 * 60_000,
  fs: false,
  terminal: false,
  rejectionEndsTurn: true,
  stopsForGood: false,
  tellsFragments: false,
  modesWithoutAsking: [],
  modes: [],
  asking: {},
  unasked: {},
  keyLogin: undefined,
  offline: undefined,
  confined: undefined,
};

/** OpenCode 1.18: starts in 4 to 14 s, writes files through the client unasked-for, and by itself allows everything. */
const OPENCODE: AcpProfile = {
  ...GENERIC_PROFILE,
  id: "opencode",
  displayName: "OpenCode",
  command: ["opencode", "acp"],
  install: "npm install -g opencode-ai",
  login: { command: "opencode auth login", hint: "opencode auth login" },
  ownVariables: /^OPENCODE_/,
  folders: [
    {
      path: ".config/opencode",
      movedBy: { variable: "XDG_CONFIG_HOME", below: "opencode" },
      keeps: [],
      rest: "private",
    },
    {
      path: ".cache/opencode",
      movedBy: { variable: "XDG_CACHE_HOME", below: "opencode" },
      keeps: [],
      rest: "private",
    },
    {
      path: ".local/state/opencode",
      movedBy: { variable: "XDG_STATE_HOME", below: "opencode" },
      keeps: [],
      rest: "private",
    },
    {
      path: ".local/share/opencode",
      movedBy: { variable: "XDG_DATA_HOME", below: "opencode" },
      keeps: ["log/", "storage/", "flint/", "auth.json", "mcp-auth.json"],
      // Repositories whose settings git obeys, and a database that cannot be shared without its neighbours.
      hides: ["snapshot", "repos", "opencode.db", "opencode.db-wal", "opencode.db-shm"],
      names: { OPENCODE_DB: "flint/opencode.db" },
      rest: "private",
    },
  ],
  startMs: 90_000,
  stopsWhenIdle: true,
  rejectionEndsTurn: false,
  modes: [
    { id: "build", name: "build" },
    { id: "plan", name: "plan" },
  ],
  asking: {
    OPENCODE_PERMISSION: JSON.stringify({
      edit: "ask",
      bash: "ask",
      webfetch: "ask",
      external_directory: "ask",
    }),
  },
  offline: (address, folder) => ({
    XDG_CONFIG_HOME: `${folder}/config`,
    XDG_CACHE_HOME: `${folder}/cache`,
    XDG_DATA_HOME: `${folder}/data`,
    XDG_STATE_HOME: `${folder}/state`,
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      model: "flint/offline",
      small_model: "flint/offline",
      enabled_providers: ["flint"],
      autoupdate: false,
      share: "disabled",
      provider: {
        flint: {
          npm: "@ai-sdk/openai-compatible",
          name: "Flint",
          options: { baseURL: `${address}/v1`, apiKey: "offline" },
          models: { offline: { name: "offline" } },
        },
      },
    }),
  }),
};

/**
 * Gemini 0.61: announces a call that needs a permission only in the request for it, cannot create files through a
 * client, cancels a turn when a second one comes, and cannot load a session of another process.
 */
const GEMINI: AcpProfile = {
  ...GENERIC_PROFILE,
  id: "gemini",
  displayName: "Gemini",
  command: ["gemini", "--acp"],
  install: "npm install -g @google/gemini-cli",
  login: { command: "gemini", hint: "gemini (and choose a way to log in), or set GEMINI_API_KEY" },
  ownVariables: /^(?:GEMINI_|GOOGLE_)/,
  folders: [
    {
      path: ".gemini",
      movedBy: { variable: "GEMINI_CLI_HOME", below: ".gemini" },
      keeps: ["oauth_creds.json", "google_accounts.json"],
      // Programs that it runs, repositories whose settings git obeys, and a list that it begins anew.
      hides: ["tmp", "history", "projects.json"],
      rest: "private",
    },
  ],
  modesWithoutAsking: ["autoEdit", "yolo"],
  modes: [
    { id: "default", name: "Default" },
    { id: "autoEdit", name: "Auto Edit" },
    { id: "yolo", name: "YOLO" },
    { id: "plan", name: "Plan" },
  ],
  keyLogin: { methodId: "gemini-api-key", variable: "GEMINI_API_KEY" },
};

/**
 * claude-agent-acp 0.99: answers protocol version 2 when it is offered more than 1, does not answer a prompt after one
 * that was cancelled, shows of an edit only what it replaces, and tells a failure of its model as if it had said it.
 */
const CLAUDE: AcpProfile = {
  ...GENERIC_PROFILE,
  id: "claude-agent-acp",
  displayName: "Claude Code (ACP)",
  command: ["claude-agent-acp"],
  login: { command: "claude auth login", hint: "claude auth login, or set ANTHROPIC_API_KEY" },
  ownVariables: /^(?:ANTHROPIC_|CLAUDE_)/,
  folders: [CLAUDE_FOLDER],
  stopsWhenIdle: true,
  rejectionEndsTurn: false,
  stopsForGood: true,
  tellsFragments: true,
  modesWithoutAsking: ["acceptEdits", "auto", "bypassPermissions"],
  modes: [
    { id: "default", name: "Manual" },
    { id: "acceptEdits", name: "Accept edits" },
    { id: "plan", name: "Plan" },
    { id: "bypassPermissions", name: "Bypass permissions" },
  ],
  offline: (address, folder) => ({
    CLAUDE_CONFIG_DIR: folder,
    ANTHROPIC_BASE_URL: address,
    ANTHROPIC_API_KEY: "offline",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  }),
};

/**
 * Codex makes a sandbox for each command, which needs namespaces and so cannot work inside of Flint's. None of the modes
 * of codex-acp does without it and still asks, so Codex is told to ask for each command as one that has to run outside
 * of it: then Flint is asked, and the command is confined by Flint's sandbox, as Codex itself is.
 */
const CONFINED_NOTE =
  'This whole session runs in a sandbox, in which the one that Codex makes for single commands does not work. Run every command with sandbox_permissions set to "require_escalated" and a short justification, unless asking for that is forbidden; it then runs in the sandbox of the session. Any other command fails. What the sandbox of the session refuses, nobody can allow: say what you would need instead.';

/** The configuration that codex-acp was given, with the note above behind what the user tells Codex. */
function codexConfined({ CODEX_CONFIG = "{}" }: Variables): Variables {
  // Expected: a setting of the user's that is no JSON. codex-acp says so itself.
  try {
    const config: Record<string, unknown> = Object(JSON.parse(CODEX_CONFIG));
    const told = [config.developer_instructions, CONFINED_NOTE].filter((text) => typeof text === "string");
    return { CODEX_CONFIG: JSON.stringify({ ...config, developer_instructions: told.join("\n\n") }) };
  } catch {
    return {};
  }
}

/**
 * codex-acp 2.6: answers protocol version 2 when it is offered more than 1, begins in a mode in which a model approves
 * instead of the user, and takes a rejection for the end of the turn, as if it had been cancelled.
 */
const CODEX: AcpProfile = {
  ...GENERIC_PROFILE,
  id: "codex-acp",
  displayName: "Codex (ACP)",
  command: ["codex-acp"],
  login: { command: "codex login", hint: "codex login, or set OPENAI_API_KEY" },
  ownVariables: /^(?:OPENAI_|CODEX_)/,
  folders: [CODEX_FOLDER],
  stopsWhenIdle: true,
  modesWithoutAsking: ["agent", "agent-full-access"],
  modes: [
    { id: "read-only", name: "Read-only" },
    { id: "workspace-write", name: "Workspace access" },
    { id: "agent", name: "Auto review" },
    { id: "agent-full-access", name: "Full access" },
  ],
  asking: { INITIAL_AGENT_MODE: "read-only" },
  unasked: { INITIAL_AGENT_MODE: "agent-full-access" },
  keyLogin: { methodId: "api-key", variable: "OPENAI_API_KEY" },
  offline: (address, folder) => ({
    CODEX_HOME: folder,
    MODEL_PROVIDER: "flint",
    CODEX_CONFIG: JSON.stringify({
      model: "offline",
      model_provider: "flint",
      model_providers: {
        flint: {
          name: "Flint",
          base_url: `${address}/v1`,
          wire_api: "responses",
          requires_openai_auth: false,
        },
      },
    }),
  }),
  confined: codexConfined,
};

const GOOSE: AcpProfile = {
  ...GENERIC_PROFILE,
  id: "goose",
  displayName: "Goose",
  command: ["goose", "acp"],
  login: { command: "goose configure", hint: "goose configure" },
  ownVariables: /^GOOSE_/,
  folders: [
    { path: ".config/goose", keeps: [], rest: "private" },
    { path: ".local/share/goose", keeps: ["sessions/"], rest: "private" },
    { path: ".local/state/goose", keeps: [], rest: "private" },
  ],
  stopsWhenIdle: true,
  modesWithoutAsking: ["auto", "smart_approve"],
  asking: { GOOSE_MODE: "approve" },
  offline: (address) => ({
    GOOSE_PROVIDER: "openai",
    GOOSE_MODEL: "offline",
    OPENAI_HOST: address,
    OPENAI_API_KEY: "offline",
  }),
};

/** The profiles of the agents that are known by name. */
export const ACP_PROFILES: readonly AcpProfile[] = [OPENCODE, GEMINI, CLAUDE, CODEX, GOOSE];

/**
 * The profile of an agent: the known one of this id, or else the one that fits a program by its name, as Gemini's for
 * `/usr/bin/gemini`. An agent under another id gets none of the user's variables and is called by its id.
 */
export function acpProfile(id: string, command: readonly string[]): AcpProfile {
  const known = ACP_PROFILES.find((profile) => profile.id === id);
  return known ?? { ...profileFor(command), id, displayName: id, ownVariables: GENERIC_PROFILE.ownVariables };
}

/** The profile that fits a program by its name. */
export function profileFor(command: readonly string[]): AcpProfile {
  const names = command.map((word) =>
    word.slice(word.lastIndexOf("/") + 1).replace(/\.(exe|cmd|[cm]?js)$/, ""),
  );
  const known = ACP_PROFILES.find(
    ({ command: [program] }) => program !== undefined && names.includes(program),
  );
  return known ?? GENERIC_PROFILE;
}
