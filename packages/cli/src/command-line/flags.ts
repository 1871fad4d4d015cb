import { FRONTEND_NAMES } from "@flint/server/frontends";

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

/** How long a server that was started for somebody who has left stays for the next one, unless told. */
export const USUAL_IDLE_SECONDS = 600;

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
    doc: "let clients choose never together with a sandbox that holds nothing back",
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

/** Which door a client comes in by. */
export const DOOR_FLAG = {
  door: {
    type: "string",
    takes: "DOOR",
    values: FRONTEND_NAMES,
    doc: `the protocol: ${FRONTEND_NAMES.join(", ")}`,
  },
} as const satisfies Flags;

/** What says where a server takes clients, and whom it lets in. */
export const LISTEN_FLAGS = {
  stdio: { type: "boolean", doc: "speak on stdin and stdout (the default)" },
  listen: {
    type: "string",
    multiple: true,
    takes: "ADDRESS",
    doc: "take clients there: stdio, local, unix:PATH, ws://HOST:PORT; may be given again",
  },
  ...DOOR_FLAG,
  "token-file": {
    type: "string",
    takes: "FILE",
    doc: "the token that clients of a port need (default: made once)",
  },
  "no-token": { type: "boolean", doc: "let in whoever reaches the port; only on this machine" },
  "allow-origin": {
    type: "string",
    multiple: true,
    takes: "ORIGIN",
    doc: "let web pages from there connect, such as https://example.org",
  },
  "allow-host": {
    type: "string",
    multiple: true,
    takes: "HOST",
    doc: "a name by which this server is called, such as flint.lan:4747",
  },
  "allow-remote-mcp": {
    type: "boolean",
    doc: "let clients of a port bring MCP servers that are programs: they run here, outside the sandbox",
  },
  "idle-exit": {
    type: "string",
    takes: "SECONDS",
    doc: "end when no client was there and no turn ran for so long (default: never)",
  },
  alone: { type: "boolean", doc: "neither join the server that runs already nor let others join this one" },
  json: { type: "boolean", doc: "say where it listens as one line of JSON each, on stderr" },
} as const satisfies Flags;

/** What only the command for editors takes. */
export const ACP_FLAGS = {
  "auto-resume": {
    type: "boolean",
    doc: "the first new session in a folder goes on with the last one that this editor had there",
  },
  login: { type: "string", takes: "AGENT", doc: "log in to an agent in this terminal instead of serving" },
  alone: { type: "boolean", doc: "neither join the server that runs already nor let others join this one" },
} as const satisfies Flags;

/** What lists and reports take. */
export const JSON_FLAG = {
  json: { type: "boolean", doc: "print JSON" },
} as const satisfies Flags;

/** The model that is always there. */
export const OFFLINE_MODEL = "flint/offline";
