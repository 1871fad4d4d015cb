/** An option of a command, in a shape that `parseArgs` of Node takes as it is. */
export interface Flag {
  readonly type: "string" | "boolean";
  readonly short?: string;
  readonly multiple?: boolean;
  /** What it takes, as help shows it. */
  readonly takes?: string;
  /** What can be given, where that is a fixed list. */
  readonly values?: readonly string[];
  readonly doc: string;
}

/** The options of a command by name. */
export type Flags = Readonly<Record<string, Flag>>;

/** What was given for the options of a command. */
export type FlagValues<Of extends Flags> = { readonly [Name in keyof Of]?: FlagValue<Of[Name]> | undefined };

type FlagValue<Of extends Flag> = Of extends { readonly multiple: true }
  ? readonly string[]
  : Of["type"] extends "boolean"
    ? boolean
    : string;

/** The option that every command has. */
export const HELP_FLAG = {
  help: { type: "boolean", short: "h", doc: "show the help of this command" },
} as const satisfies Flags;

/** The options that every command with a server of its own takes. */
export const SERVER_FLAGS = {
  cwd: { type: "string", takes: "DIR", doc: "where to work (default: here)" },
  model: { type: "string", takes: "MODEL", doc: "such as flint/offline; flint models lists them" },
  agent: {
    type: "string",
    takes: "AGENT",
    doc: "who works: flint, claude, codex, opencode, gemini, goose, one of your configuration, or a command that speaks ACP",
  },
  approval: {
    type: "string",
    takes: "POLICY",
    values: ["never", "unlessTrusted", "always"],
    doc: "when to ask: never, unlessTrusted (default), always",
  },
  sandbox: {
    type: "string",
    takes: "POLICY",
    values: ["read-only", "workspace-write", "danger-full-access", "external-sandbox"],
    doc: "what commands may touch: read-only, workspace-write (default), danger-full-access, external-sandbox",
  },
  offline: { type: "boolean", doc: "use the built-in model, also with another agent: no key, no network" },
  policy: { type: "string", takes: "FILE", doc: "a policy file that answers approvals when nobody is there" },
  "allow-unconfined": {
    type: "boolean",
    doc: "let clients choose danger-full-access together with never",
  },
  "approval-timeout": {
    type: "string",
    takes: "SECONDS",
    doc: "an approval nobody answers is declined after this (default: 600)",
  },
  trace: {
    type: "string",
    takes: "FILE",
    doc: "keep every line to and from an agent there, for a bug report",
  },
  durability: {
    type: "string",
    takes: "LEVEL",
    values: ["full", "relaxed"],
    doc: "full (default): a completed turn survives a power cut; relaxed: it survives the end of Flint",
  },
  ...HELP_FLAG,
} as const satisfies Flags;

/** What lists and reports take. */
export const JSON_FLAG = {
  json: { type: "boolean", doc: "print JSON" },
} as const satisfies Flags;

/** The model that is always there. */
export const OFFLINE_MODEL = "flint/offline";
