import type { BudgetEnforcement } from "@flint/protocol";
import { ENFORCEMENTS, enforcementNamed } from "@flint/server/config";
import { choice, numberOption, UsageError } from "../../command-line/command.ts";
import { type Flags, type FlagValues, SERVER_FLAGS } from "../../command-line/flags.ts";
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
  "max-tokens": { type: "string", takes: "N", doc: "Ask before continuing past this many tokens" },
  "max-cost": { type: "string", takes: "USD", doc: "Ask before continuing past this cost" },
  "max-time": { type: "string", takes: "SECONDS", doc: "Ask before continuing past this much working time" },
  "max-steps": { type: "string", takes: "N", doc: "Ask before continuing past this many model calls" },
  limits: {
    type: "string",
    takes: "HOW",
    values: ENFORCEMENTS,
    doc: "strict (default): reject limits that cannot be enforced with what the agent reports; best-effort: run anyway",
  },
  ...SERVER_FLAGS,
} as const satisfies Flags;

/** The output of a turn: a timeline or plain lines, only the last message, events as JSON, or the lines of Codex. */
export type OutputFormat = "turn" | "answer" | "json" | "codex";

/** The limits of one turn, as `turn/start` takes them. */
export interface TurnLimits {
  readonly tokens?: number;
  readonly costUsd?: number;
  readonly seconds?: number;
  readonly steps?: number;
}

/** The parsed options of `flint exec`. */
export interface ExecOptions {
  /** The thread to continue; undefined starts a new one. */
  readonly thread: { readonly reference: string } | "newest" | undefined;
  readonly format: OutputFormat;
  readonly ephemeral: boolean;
  readonly images: readonly string[];
  readonly schemaFile: string | undefined;
  /** Where the final message is written. */
  readonly lastMessageFile?: string | undefined;
  readonly limits: TurnLimits | undefined;
  /** Whether limits have to hold; undefined: as configured. */
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

const LIMIT_FLAGS = {
  tokens: { flag: "max-tokens", noun: "token limit of", unit: "" },
  costUsd: { flag: "max-cost", noun: "cost limit of $", unit: "" },
  seconds: { flag: "max-time", noun: "time limit of", unit: "s" },
  steps: { flag: "max-steps", noun: "model call limit of", unit: "" },
} as const satisfies Readonly<Record<keyof TurnLimits, object>>;

/** The names of the limits. */
// Object.keys forgets which keys the table has.
export const LIMIT_NAMES = Object.keys(LIMIT_FLAGS) as readonly (keyof TurnLimits)[];

/** A limit of the command line, such as `time limit of 4s (--max-time)`. */
export function describeLimit(name: keyof TurnLimits, value: number): string {
  const { flag, noun, unit } = LIMIT_FLAGS[name];
  return `${noun}${noun.endsWith("$") ? "" : " "}${value}${unit} (--${flag})`;
}

function limitsOf(values: Values): TurnLimits | undefined {
  const limits: TurnLimits = {
    ...given("tokens", whole(values, "max-tokens")),
    ...given("costUsd", amount(values, "max-cost")),
    ...given("seconds", amount(values, "max-time")),
    ...given("steps", whole(values, "max-steps")),
  };
  return Object.keys(limits).length === 0 ? undefined : limits;
}

function given<Name extends string>(name: Name, value: number | undefined): { [Key in Name]?: number } {
  // TypeScript widens a computed key to any string.
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: number };
}

function enforcementOf({ limits }: Values): BudgetEnforcement | undefined {
  return limits === undefined ? undefined : enforcementNamed(choice("limits", limits, ENFORCEMENTS));
}

type LimitFlag = (typeof LIMIT_FLAGS)[keyof TurnLimits]["flag"];

function whole(values: Values, flag: LimitFlag): number | undefined {
  const isValid = (value: number): boolean => Number.isSafeInteger(value) && value > 0;
  const text = values[flag];
  return text === undefined ? undefined : numberOption(flag, text, "a whole number above 0", isValid);
}

function amount(values: Values, flag: LimitFlag): number | undefined {
  const isValid = (value: number): boolean => Number.isFinite(value) && value > 0;
  const text = values[flag];
  return text === undefined ? undefined : numberOption(flag, text, "a number above 0", isValid);
}

function exclude(values: Values, one: keyof Values, other: keyof Values): void {
  if (!isGiven(values[one]) || !isGiven(values[other])) return;
  throw new UsageError(`--${one} and --${other} cannot be used together.`);
}

function isGiven(value: Values[keyof Values]): boolean {
  return value !== undefined && value !== false;
}
