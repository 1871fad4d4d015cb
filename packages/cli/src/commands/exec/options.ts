import type { BudgetEnforcement } from "@flint/protocol";
import { UsageError } from "../../command-line/command.ts";
import { type Flags, type FlagValues, SERVER_FLAGS } from "../../command-line/flags.ts";
import { enforcementOf, LIMIT_FLAGS, limitsOf, type TurnLimits } from "../../command-line/limit-flags.ts";
import type { ServerFlagValues } from "../../command-line/server-options.ts";

/** The options of `flint exec`. */
export const EXEC_FLAGS = {
  resume: {
    type: "string",
    short: "r",
    takes: "THREAD",
    doc: "Continue a thread: its id, the beginning or end of the id, or its name",
  },
  continue: { type: "boolean", short: "c", doc: "Continue the latest thread in this folder" },
  image: {
    type: "string",
    short: "i",
    multiple: true,
    takes: "FILE",
    doc: "Attach an image (png, jpeg, gif or webp)",
  },
  "output-schema": {
    type: "string",
    takes: "FILE",
    doc: "JSON Schema for the answer; when piped, only the answer is printed",
  },
  "output-last-message": {
    type: "string",
    short: "o",
    takes: "FILE",
    doc: "Write the final message to a file as well",
  },
  json: { type: "boolean", doc: "Print every event as a line of JSON" },
  "experimental-json": {
    type: "boolean",
    doc: "Accept the options and print the events of `codex exec --experimental-json`",
  },
  quiet: { type: "boolean", short: "q", doc: "Print only the final message" },
  ephemeral: { type: "boolean", doc: "Do not store the thread" },
  detach: {
    type: "boolean",
    doc: "Run it as a task in the background, in a worktree of its own; flint tasks logs N -f follows it",
  },
  ...LIMIT_FLAGS,
  ...SERVER_FLAGS,
} as const satisfies Flags;

/** The output of a turn: a timeline or plain lines, only the last message, events as JSON, or the lines of Codex. */
export type OutputFormat = "turn" | "answer" | "json" | "codex";

/** The parsed options of `flint exec`. */
export interface ExecOptions {
  /** The thread to continue; undefined starts a new one. */
  readonly thread: { readonly reference: string } | "newest" | undefined;
  readonly format: OutputFormat;
  readonly ephemeral: boolean;
  readonly images: readonly string[];
  readonly schemaFile: string | undefined;
  /** Path of the file for the final message. */
  readonly lastMessageFile?: string | undefined;
  readonly limits: TurnLimits | undefined;
  /** Enforcement of limits; undefined: as configured. */
  readonly enforcement?: BudgetEnforcement | undefined;
  readonly server: ServerFlagValues;
  /** Instructions for a new thread, besides its prompts. */
  readonly developerInstructions?: string;
}

type Values = FlagValues<typeof EXEC_FLAGS>;

/** Reads the options. Throws a UsageError for options that contradict each other. */
export function readExecOptions(values: Values): ExecOptions {
  exclude(values, "resume", "continue");
  exclude(values, "json", "quiet");
  exclude(values, "offline", "model");
  exclude(values, "ephemeral", "resume");
  exclude(values, "ephemeral", "continue");
  return {
    thread: threadOf(values),
    format: values.json === true ? "json" : values.quiet === true ? "answer" : "turn",
    ephemeral: values.ephemeral === true,
    images: values.image ?? [],
    schemaFile: values["output-schema"],
    lastMessageFile: values["output-last-message"],
    limits: limitsOf(values),
    enforcement: enforcementOf(values),
    server: values,
  };
}

function threadOf(values: Values): ExecOptions["thread"] {
  if (values.continue === true) return "newest";
  if (values.resume === undefined) return undefined;
  if (values.resume === "") throw new UsageError("--resume needs a thread; see flint threads list.");
  return { reference: values.resume };
}

function exclude(values: Values, one: keyof Values, other: keyof Values): void {
  if (!isGiven(values[one]) || !isGiven(values[other])) return;
  throw new UsageError(`--${one} and --${other} cannot be used together.`);
}

function isGiven(value: Values[keyof Values]): boolean {
  return value !== undefined && value !== false;
}
