import { type Flags, SERVER_FLAGS } from "../../command-line/flags.ts";

/** The options of `flint exec --experimental-json`: those of `codex exec`, and some of Flint's own. */
export const CODEX_EXEC_FLAGS = {
  "experimental-json": { type: "boolean", doc: "Print Codex's events as lines of JSON" },
  json: { type: "boolean", doc: "Same as --experimental-json" },
  config: {
    type: "string",
    short: "c",
    multiple: true,
    takes: "KEY=VALUE",
    doc: "Codex setting; the value is TOML or plain text",
  },
  model: SERVER_FLAGS.model,
  sandbox: {
    type: "string",
    short: "s",
    takes: "MODE",
    values: ["read-only", "workspace-write", "danger-full-access"],
    doc: "What commands may access: read-only (default), workspace-write, danger-full-access",
  },
  cd: { type: "string", short: "C", takes: "DIR", doc: "Folder to work in (default: the current one)" },
  "add-dir": { type: "string", multiple: true, takes: "DIR", doc: "Additional writable folder" },
  "skip-git-repo-check": { type: "boolean", doc: "Ignored: Flint works in any folder" },
  "output-schema": { type: "string", takes: "FILE", doc: "JSON Schema for the answer" },
  "output-last-message": {
    type: "string",
    short: "o",
    takes: "FILE",
    doc: "Also write the last message to this file",
  },
  image: { type: "string", short: "i", multiple: true, takes: "FILE", doc: "Attach an image" },
  ephemeral: { type: "boolean", doc: "Do not store the thread" },
  last: { type: "boolean", doc: "With resume: the newest thread of this folder" },
  "thread-source": { type: "string", takes: "SOURCE", doc: "Ignored" },
  "cyber-access-program": { type: "string", takes: "PROGRAM", doc: "Ignored" },
  enable: { type: "string", multiple: true, takes: "FEATURE", doc: "Ignored" },
  disable: { type: "string", multiple: true, takes: "FEATURE", doc: "Ignored" },
  "strict-config": { type: "boolean", doc: "Ignored" },
  agent: SERVER_FLAGS.agent,
  offline: SERVER_FLAGS.offline,
  trace: SERVER_FLAGS.trace,
  help: SERVER_FLAGS.help,
} as const satisfies Flags;

/** The options of `flint codex-shim app-server`: those of Codex that clients use, and some of Flint's own. */
export const SHIM_SERVER_FLAGS = {
  config: {
    type: "string",
    short: "c",
    multiple: true,
    takes: "KEY=VALUE",
    doc: "Codex setting; the value is TOML or plain text",
  },
  listen: { type: "string", takes: "URL", doc: "Only stdio:// is supported" },
  stdio: { type: "boolean", doc: "Same as --listen stdio://" },
  enable: { type: "string", multiple: true, takes: "FEATURE", doc: "Ignored" },
  disable: { type: "string", multiple: true, takes: "FEATURE", doc: "Ignored" },
  "analytics-default-enabled": { type: "boolean", doc: "Ignored: Flint has no analytics" },
  "strict-config": { type: "boolean", doc: "Ignored" },
  model: SERVER_FLAGS.model,
  agent: SERVER_FLAGS.agent,
  offline: SERVER_FLAGS.offline,
  trace: SERVER_FLAGS.trace,
  help: SERVER_FLAGS.help,
} as const satisfies Flags;
