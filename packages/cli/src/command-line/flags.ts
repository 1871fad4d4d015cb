import {
  APPROVAL_NAMES,
  GIT_MODES,
  PERMISSION_MODES,
  PERMISSION_MODES_DOC,
  SANDBOX_NAMES,
} from "@flint/server/config";
import { FRONTEND_NAMES } from "@flint/server/frontends";

/** An option of a command, in the shape that Node's `parseArgs` takes. */
export interface Flag {
  readonly type: "string" | "boolean";
  readonly short?: string;
  readonly multiple?: boolean;
  /** The placeholder that help shows for its value. */
  readonly takes?: string;
  /** The values it accepts, where that is a fixed list. */
  readonly values?: readonly string[];
  readonly doc: string;
}

/** The options of a command by name. */
export type Flags = Readonly<Record<string, Flag>>;

/** The values given for the options of a command. */
export type FlagValues<Of extends Flags> = { readonly [Name in keyof Of]?: FlagValue<Of[Name]> | undefined };

type FlagValue<Of extends Flag> = Of extends { readonly multiple: true }
  ? readonly string[]
  : Of["type"] extends "boolean"
    ? boolean
    : string;

/** The option that every command has. */
export const HELP_FLAG = {
  help: { type: "boolean", short: "h", doc: "Show help for this command" },
} as const satisfies Flags;

/** Default time for which a background server waits for the next client. */
export const DEFAULT_IDLE_SECONDS = 600;

const ALONE_FLAG = {
  alone: {
    type: "boolean",
    doc: "Do not join the running server, and do not let other clients join this one",
  },
} as const satisfies Flags;

/** The options of every command that runs a server of its own. */
export const SERVER_FLAGS = {
  cwd: { type: "string", short: "C", takes: "DIR", doc: "Folder to work in (default: the current one)" },
  model: {
    type: "string",
    short: "m",
    takes: "MODEL",
    doc: "Model to use, such as flint/offline; flint models lists them",
  },
  agent: {
    type: "string",
    takes: "AGENT",
    doc: "Agent to use: flint, claude, codex, opencode, gemini, goose, one from your configuration, or the command of an ACP agent",
  },
  approval: {
    type: "string",
    takes: "POLICY",
    values: APPROVAL_NAMES,
    doc: "When to ask for approval: never, on-request (only for what leaves the sandbox), unless-trusted (default), always",
  },
  sandbox: {
    type: "string",
    takes: "POLICY",
    values: SANDBOX_NAMES,
    doc: "What commands may access: read-only, workspace-write (default), danger-full-access, external-sandbox",
  },
  offline: {
    type: "boolean",
    doc: "Use the built-in offline model, with any agent; needs no API key or network",
  },
  permissions: {
    type: "string",
    takes: "MODE",
    values: PERMISSION_MODES,
    doc: `What the agent may do; --approval, --sandbox, --network and --git override parts of it. ${PERMISSION_MODES_DOC}`,
  },
  yolo: {
    type: "boolean",
    doc: "Alias for --permissions full-access; asks for confirmation, or needs --allow-unconfined without a terminal",
  },
  network: {
    type: "string",
    takes: "HOSTS",
    doc: "Hosts that commands may connect to without asking, separated by commas (example.org, *.example.org:8443, localhost:3000, or with its private address git.corp.example:443=10.1.2.3); none, or all",
  },
  git: {
    type: "string",
    takes: "MODE",
    values: GIT_MODES,
    doc: "Whether commits that the agent makes in the sandbox are added to your repository: off, ask (default), auto",
  },
  "add-dir": {
    type: "string",
    takes: "DIR",
    multiple: true,
    doc: "Another folder that commands may write to",
  },
  policy: { type: "string", takes: "FILE", doc: "Policy file that answers approvals in unattended runs" },
  "allow-unconfined": {
    type: "boolean",
    doc: "Let clients turn off approvals and the sandbox at the same time",
  },
  "approval-timeout": {
    type: "string",
    takes: "SECONDS",
    doc: "Decline approvals that are not answered within this time (default: 600)",
  },
  trace: {
    type: "string",
    takes: "FILE",
    doc: "Record every message to and from agents in this file, for bug reports",
  },
  durability: {
    type: "string",
    takes: "LEVEL",
    values: ["full", "relaxed"],
    doc: "full (default): completed turns survive a power failure; relaxed: only a crash of Flint",
  },
  ...HELP_FLAG,
} as const satisfies Flags;

/** The option that chooses a protocol. */
export const PROTOCOL_FLAG = {
  protocol: {
    type: "string",
    takes: "PROTOCOL",
    values: FRONTEND_NAMES,
    doc: `Protocol to speak: ${FRONTEND_NAMES.join(", ")}`,
  },
} as const satisfies Flags;

/** The options that say where a server listens and which clients it accepts. */
export const LISTEN_FLAGS = {
  stdio: { type: "boolean", doc: "Serve one client on stdin and stdout (the default)" },
  listen: {
    type: "string",
    multiple: true,
    takes: "ADDRESS",
    doc: "Listen on stdio, local (for flint connect), unix:PATH or ws://HOST:PORT; may be repeated",
  },
  ...PROTOCOL_FLAG,
  "token-file": {
    type: "string",
    takes: "FILE",
    doc: "File with the token that WebSocket clients must send (default: created on first use)",
  },
  "no-token": { type: "boolean", doc: "Accept WebSocket clients without a token; loopback addresses only" },
  "allow-origin": {
    type: "string",
    multiple: true,
    takes: "ORIGIN",
    doc: "Accept connections from web pages with this origin, such as https://example.org",
  },
  "allow-host": {
    type: "string",
    multiple: true,
    takes: "HOST",
    doc: "Accept this Host header, such as flint.lan:4747",
  },
  "allow-remote-mcp": {
    type: "boolean",
    doc: "Let WebSocket clients add stdio MCP servers, which run on this machine",
  },
  "idle-exit": {
    type: "string",
    takes: "SECONDS",
    doc: "Exit after this long without a client or a running turn (default: never)",
  },
  ...ALONE_FLAG,
  json: { type: "boolean", doc: "Print each listening address as a line of JSON on stderr" },
} as const satisfies Flags;

/** The options of `flint acp` besides those of the server. */
export const ACP_FLAGS = {
  "auto-resume": {
    type: "boolean",
    doc: "Continue this editor's last session in the folder when it opens a new one",
  },
  login: { type: "string", takes: "AGENT", doc: "Log in to an agent in this terminal instead of serving" },
  ...ALONE_FLAG,
} as const satisfies Flags;

/** The option of commands that can print JSON. */
export const JSON_FLAG = {
  json: { type: "boolean", doc: "Print JSON" },
} as const satisfies Flags;

/** The part of a thread to play, and the speed. */
export const REPLAY_FLAGS = {
  turn: { type: "string", takes: "TURN", doc: "Play only this turn, by number or id" },
  speed: { type: "string", takes: "N", doc: "Playback speed (default: 1)" },
} as const satisfies Flags;

/** The built-in model, which is always available. */
export const OFFLINE_MODEL = "flint/offline";
