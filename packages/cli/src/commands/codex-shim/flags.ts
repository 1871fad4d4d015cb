import { type Flags, SERVER_FLAGS } from "../flags.ts";

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
