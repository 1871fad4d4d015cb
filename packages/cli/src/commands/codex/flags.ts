import { type Flags, SERVER_FLAGS } from "../../command-line/flags.ts";

/** The options of `flint exec --experimental-json`: those of `codex exec`, and a few of Flint's own. */
export const CODEX_EXEC_FLAGS = {
  "experimental-json": { type: "boolean", doc: "print the events of Codex, one line of JSON each" },
  json: { type: "boolean", doc: "the same" },
  config: {
    type: "string",
    short: "c",
    multiple: true,
    takes: "KEY=VALUE",
    doc: "a setting of Codex; the value is TOML, or a plain text",
  },
  model: { ...SERVER_FLAGS.model, short: "m" },
  sandbox: {
    type: "string",
    short: "s",
    takes: "MODE",
    values: ["read-only", "workspace-write", "danger-full-access"],
    doc: "what commands may touch: read-only (default), workspace-write, danger-full-access",
  },
  cd: { type: "string", short: "C", takes: "DIR", doc: "where to work (default: here)" },
  "add-dir": { type: "string", multiple: true, takes: "DIR", doc: "a further folder that may be written" },
  "skip-git-repo-check": { type: "boolean", doc: "nothing: Flint works in any folder" },
  "output-schema": { type: "string", takes: "FILE", doc: "a JSON Schema for the answer" },
  "output-last-message": {
    type: "string",
    short: "o",
    takes: "FILE",
    doc: "write the last thing that the agent says there too",
  },
  image: { type: "string", short: "i", multiple: true, takes: "FILE", doc: "send a picture along" },
  ephemeral: { type: "boolean", doc: "do not keep the thread" },
  last: { type: "boolean", doc: "with resume: the newest thread of this folder" },
  "thread-source": { type: "string", takes: "SOURCE", doc: "not used" },
  "cyber-access-program": { type: "string", takes: "PROGRAM", doc: "not used" },
  enable: { type: "string", multiple: true, takes: "FEATURE", doc: "not used" },
  disable: { type: "string", multiple: true, takes: "FEATURE", doc: "not used" },
  "strict-config": { type: "boolean", doc: "not used" },
  agent: SERVER_FLAGS.agent,
  offline: SERVER_FLAGS.offline,
  trace: SERVER_FLAGS.trace,
  help: SERVER_FLAGS.help,
} as const satisfies Flags;

/** The options of `flint codex-shim app-server`: those of Codex that clients give, and a few of Flint's own. */
export const SHIM_SERVER_FLAGS = {
  config: {
    type: "string",
    short: "c",
    multiple: true,
    takes: "KEY=VALUE",
    doc: "a setting of Codex; the value is TOML, or a plain text",
  },
  listen: { type: "string", takes: "URL", doc: "stdio:// is the only one" },
  stdio: { type: "boolean", doc: "the same as --listen stdio://" },
  enable: { type: "string", multiple: true, takes: "FEATURE", doc: "not used" },
  disable: { type: "string", multiple: true, takes: "FEATURE", doc: "not used" },
  "analytics-default-enabled": { type: "boolean", doc: "not used: Flint has no analytics" },
  "strict-config": { type: "boolean", doc: "not used" },
  model: SERVER_FLAGS.model,
  agent: SERVER_FLAGS.agent,
  offline: SERVER_FLAGS.offline,
  trace: SERVER_FLAGS.trace,
  help: SERVER_FLAGS.help,
} as const satisfies Flags;
