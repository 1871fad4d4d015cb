import { type AcpProfile, GENERIC } from "./profile.ts";

/** OpenCode 1.18: starts in 4 to 14 s, writes files through a client that does not offer it, and by default allows everything. */
export const OPENCODE: AcpProfile = {
  ...GENERIC,
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
      // Repositories whose settings git obeys, and a database that cannot be shared without the files beside it.
      hides: ["snapshot", "repos", "opencode.db", "opencode.db-wal", "opencode.db-shm"],
      names: { OPENCODE_DB: "flint/opencode.db" },
      rest: "private",
    },
  ],
  startMs: 90_000,
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
