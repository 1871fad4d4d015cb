import { homedir } from "node:os";
import { CLAUDE_HOSTS, CODEX_HOSTS, CODEX_UNCONFINED_FEATURES } from "../shared/agent.ts";
import {
  CLAUDE_ACP_PACKAGE,
  CODEX_ACP_PACKAGE,
  GEMINI_PACKAGE,
  OPENCODE_PACKAGE,
} from "../shared/agent-packages.ts";
import {
  CLAUDE_FOLDER,
  CODEX_FOLDER,
  GEMINI_FOLDER,
  GOOSE_FOLDERS,
  OPENCODE_FOLDERS,
} from "../shared/folders/agent-folders.ts";
import { folderPath } from "../shared/folders/agent-paths.ts";
import {
  CLAUDE_ACP_PROJECT,
  CODEX_ACP_PROJECT,
  GEMINI_PROJECT,
  GOOSE_PROJECT,
  OPENCODE_PROJECT,
  unknownProject,
} from "../shared/folders/project-files.ts";
import { type AcpProfile, GENERIC, type Variables } from "./profile.ts";

/** Agents that report tokens at the end of each turn, and what the session has cost by then. */
const TOKENS_AND_COST = { tokens: "turn", steps: "never", costUsd: "turn", usesPrices: true } as const;
/** Agents that report tokens at the end of each turn. */
const TOKENS = { tokens: "turn", steps: "never", costUsd: "never", usesPrices: true } as const;

/** OpenCode 1.18: starts in 4 to 14 s, writes files through a client that does not offer it, and by default allows everything. */
export const OPENCODE: AcpProfile = {
  ...GENERIC,
  id: "opencode",
  displayName: "OpenCode",
  provider: "opencode",
  command: ["opencode", "acp"],
  package: OPENCODE_PACKAGE,
  usedOptions: ["acp"],
  install: "npm install -g opencode-ai",
  login: {
    command: "opencode auth login",
    hint: "flint acp --login opencode",
    logout: "opencode auth logout",
  },
  ownVariables: /^OPENCODE_/,
  hosts: ["opencode.ai", "models.dev"],
  project: OPENCODE_PROJECT,
  untrustedVariables: { OPENCODE_DISABLE_PROJECT_CONFIG: "1" },
  folders: OPENCODE_FOLDERS,
  startMs: 90_000,
  usageReports: TOKENS_AND_COST,
  stopsWhenIdle: true,
  rejectionCancelsTurn: false,
  modes: [
    { id: "build", name: "build" },
    { id: "plan", name: "plan" },
  ],
  askVariables: {
    OPENCODE_PERMISSION: JSON.stringify({
      edit: "ask",
      bash: "ask",
      webfetch: "ask",
      external_directory: "ask",
    }),
  },
  offlineVariables: (address, folder) => ({
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
 * Gemini 0.61: announces a call that needs permission only in the request for it, cannot create files through a client,
 * cancels a turn when a second one comes, and cannot load a session of another process.
 */
export const GEMINI: AcpProfile = {
  ...GENERIC,
  id: "gemini",
  displayName: "Gemini",
  provider: "google",
  command: ["gemini", "--acp"],
  package: GEMINI_PACKAGE,
  usedOptions: ["--acp"],
  install: "npm install -g @google/gemini-cli",
  login: {
    command: "gemini",
    hint: "flint acp --login gemini (and choose a way to log in), or set GEMINI_API_KEY",
  },
  ownVariables: /^(?:GEMINI_|GOOGLE_)/,
  hosts: [
    ...["generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com"],
    ...["oauth2.googleapis.com", "accounts.google.com"],
  ],
  project: GEMINI_PROJECT,
  folders: [GEMINI_FOLDER],
  usageReports: TOKENS,
  autonomousModes: ["autoEdit", "yolo"],
  modes: [
    { id: "default", name: "Default" },
    { id: "autoEdit", name: "Auto Edit" },
    { id: "yolo", name: "YOLO" },
    { id: "plan", name: "Plan" },
  ],
  apiKeyLogin: { methodId: "gemini-api-key", variable: "GEMINI_API_KEY" },
};

/**
 * claude-agent-acp 0.99: answers protocol version 2 when it is offered more than 1, does not answer a prompt after one
 * that was cancelled, shows only the replaced lines of an edit, and reports a failure of its model as a message.
 */
export const CLAUDE_AGENT_ACP: AcpProfile = {
  ...GENERIC,
  id: "claude-agent-acp",
  displayName: "Claude Code (ACP)",
  provider: "anthropic",
  command: ["claude-agent-acp"],
  package: CLAUDE_ACP_PACKAGE,
  install: "npm install -g @agentclientprotocol/claude-agent-acp",
  login: {
    command: "claude auth login",
    hint: "flint acp --login claude, or set ANTHROPIC_API_KEY",
    logout: "claude auth logout",
  },
  ownVariables: /^(?:ANTHROPIC_|CLAUDE_)/,
  hosts: CLAUDE_HOSTS,
  project: CLAUDE_ACP_PROJECT,
  folders: [CLAUDE_FOLDER],
  usageReports: TOKENS_AND_COST,
  stopsWhenIdle: true,
  rejectionCancelsTurn: false,
  cancelEndsProcess: true,
  sendsPartialDiffs: true,
  autonomousModes: ["acceptEdits", "auto", "bypassPermissions"],
  modes: [
    { id: "default", name: "Manual" },
    { id: "acceptEdits", name: "Accept edits" },
    { id: "plan", name: "Plan" },
    { id: "bypassPermissions", name: "Bypass permissions" },
  ],
  keys: async (command, environment) => {
    const { claudeKeys } = await import("../shared/keys/claude-keys.ts");
    const folder = folderPath(CLAUDE_FOLDER, environment, environment.HOME ?? homedir());
    const start = (own: Variables) => ({ command, environment: { ...environment, ...own } });
    return claudeKeys({ environment, folder, overridesSettings: false, start });
  },
  offlineVariables: (address, folder) => ({
    CLAUDE_CONFIG_DIR: folder,
    ANTHROPIC_BASE_URL: address,
    ANTHROPIC_API_KEY: "offline",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  }),
};

/**
 * Codex makes a sandbox for each command, which needs namespaces and so cannot work inside Flint's. No mode of codex-acp
 * does without it and still asks, so Codex is instructed to run every command with escalated permissions: then Flint is
 * asked, and the command runs in Flint's sandbox, as Codex itself does.
 */
const SANDBOX_INSTRUCTIONS =
  'This whole session runs in a sandbox, in which the one that Codex makes for single commands does not work. Run every command with sandbox_permissions set to "require_escalated" and a short justification, unless asking for that is forbidden; it then runs in the sandbox of the session. Any other command fails. What the sandbox of the session refuses cannot be approved: say what you would need instead.';

/** Adds to the configuration that codex-acp was given what it has to know in Flint's sandbox. */
function sandboxedVariables({ CODEX_CONFIG = "{}" }: Variables, asks: boolean): Variables {
  // Expected: a setting of the user's that is not JSON. codex-acp reports it itself.
  try {
    const config: Record<string, unknown> = Object(JSON.parse(CODEX_CONFIG));
    const off = CODEX_UNCONFINED_FEATURES.map((feature) => [feature, false] as const);
    const features = { ...Object(config.features), ...Object.fromEntries(off) };
    const own = asks ? [SANDBOX_INSTRUCTIONS] : [];
    const instructions = [config.developer_instructions, ...own].filter((text) => typeof text === "string");
    const instructed = instructions.length > 0 && { developer_instructions: instructions.join("\n\n") };
    return { CODEX_CONFIG: JSON.stringify({ ...config, features, ...instructed }) };
  } catch {
    return {};
  }
}

/**
 * codex-acp 2.6: answers protocol version 2 when it is offered more than 1, begins in a mode in which a model approves
 * instead of the user, and ends the turn on a rejection, as if it had been cancelled.
 */
export const CODEX_ACP: AcpProfile = {
  ...GENERIC,
  id: "codex-acp",
  displayName: "Codex (ACP)",
  provider: "openai",
  command: ["codex-acp"],
  package: CODEX_ACP_PACKAGE,
  install: "npm install -g @agentclientprotocol/codex-acp",
  login: {
    command: "codex login",
    hint: "flint acp --login codex, or set OPENAI_API_KEY",
    logout: "codex logout",
  },
  ownVariables: /^(?:OPENAI_|CODEX_)/,
  hosts: CODEX_HOSTS,
  project: CODEX_ACP_PROJECT,
  folders: [CODEX_FOLDER],
  usageReports: TOKENS,
  stopsWhenIdle: true,
  autonomousModes: ["agent", "agent-full-access"],
  modes: [
    { id: "read-only", name: "Read-only" },
    { id: "workspace-write", name: "Workspace access" },
    { id: "agent", name: "Auto review" },
    { id: "agent-full-access", name: "Full access" },
  ],
  askVariables: { INITIAL_AGENT_MODE: "read-only" },
  neverAskVariables: { INITIAL_AGENT_MODE: "agent-full-access" },
  apiKeyLogin: { methodId: "api-key", variable: "OPENAI_API_KEY" },
  offlineVariables: (address, folder) => ({
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
  // Read when its Codex starts, which would fetch a list of plugins; the variable has an effect only later.
  offlineFiles: { "config.toml": "[features]\nplugins = false\n" },
  sandboxedVariables,
};

/** Goose. */
export const GOOSE: AcpProfile = {
  ...GENERIC,
  id: "goose",
  displayName: "Goose",
  provider: "goose",
  command: ["goose", "acp"],
  login: { command: "goose configure", hint: "flint acp --login goose" },
  ownVariables: /^GOOSE_/,
  project: GOOSE_PROJECT,
  folders: GOOSE_FOLDERS,
  stopsWhenIdle: true,
  autonomousModes: ["auto", "smart_approve"],
  askVariables: { GOOSE_MODE: "approve" },
  offlineVariables: (address) => ({
    GOOSE_PROVIDER: "openai",
    GOOSE_MODEL: "offline",
    OPENAI_HOST: address,
    OPENAI_API_KEY: "offline",
  }),
};

/** The ACP agents that are known by name, one line each. */
export const ACP_PROFILES: readonly AcpProfile[] = [OPENCODE, GEMINI, CLAUDE_AGENT_ACP, CODEX_ACP, GOOSE];

/**
 * The profile of an agent: the known one of this id, or else that of the program which its command names. An agent under
 * an id of its own gets none of the user's variables.
 */
export function acpProfile(id: string, command: readonly string[]): AcpProfile {
  const known = ACP_PROFILES.find((profile) => profile.id === id);
  if (known !== undefined) return known;
  const profile = profileFor(command);
  const provider = profile.provider === GENERIC.provider ? id : profile.provider;
  return { ...profile, id, displayName: id, provider, ownVariables: GENERIC.ownVariables };
}

/** The profile that fits a command by the name of its program, as Gemini's for `/usr/bin/gemini`. */
export function profileFor(command: readonly string[]): AcpProfile {
  const names = command.map((word) =>
    word.slice(word.lastIndexOf("/") + 1).replace(/\.(exe|cmd|[cm]?js)$/, ""),
  );
  const known = ACP_PROFILES.find(
    ({ command: [program] }) => program !== undefined && names.includes(program),
  );
  const [program = ""] = names;
  return known ?? { ...GENERIC, project: unknownProject(program) };
}
