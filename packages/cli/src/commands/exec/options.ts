import { type ServerFlagValues, UsageError } from "../../command-line/arguments.ts";
import { type Flags, type FlagValues, SERVER_FLAGS } from "../../command-line/flags.ts";

/** How the turn is shown: as a timeline or plain lines, only its last message, as JSON, or as the lines of Codex. */
export type ShownAs = "turn" | "answer" | "json" | "codex";

/** What one turn may use, as `turn/start` takes it. */
export interface TurnLimits {
  readonly tokens?: number;
  readonly costUsd?: number;
  readonly seconds?: number;
  readonly steps?: number;
}

/** What the options of `flint exec` ask for. */
export interface ExecOptions {
  /** The thread to go on with; none is a new one. */
  readonly thread: { readonly reference: string } | "newest" | undefined;
  readonly shownAs: ShownAs;
  readonly ephemeral: boolean;
  readonly images: readonly string[];
  readonly schemaFile: string | undefined;
  readonly limits: TurnLimits | undefined;
  readonly server: ServerFlagValues;
  /** What a new thread is told beside its prompts. */
  readonly developerInstructions?: string;
}

type Values = FlagValues<typeof EXEC_FLAGS>;

/** Reads the options. What contradicts itself is refused with a sentence. */
export function readExecOptions(values: Values): ExecOptions {
  exclude(values, "resume", "continue");
  exclude(values, "json", "quiet");
  exclude(values, "offline", "model");
  exclude(values, "ephemeral", "resume");
  exclude(values, "ephemeral", "continue");
  return {
    thread: threadOf(values),
    shownAs: values.json === true ? "json" : values.quiet === true ? "answer" : "turn",
    ephemeral: values.ephemeral === true,
    images: values.image ?? [],
    schemaFile: values["output-schema"],
    limits: limitsOf(values),
    server: values,
  };
}

function threadOf(values: Values): ExecOptions["thread"] {
  if (values.continue === true) return "newest";
  if (values.resume === undefined) return undefined;
  if (values.resume === "") throw new UsageError("--resume needs a thread; flint threads list shows them.");
  return { reference: values.resume };
}

/** Limits as they are given on the command line. */
export function limitFlags({ tokens, costUsd, seconds, steps }: TurnLimits): string[] {
  const flags: readonly [LimitFlag, number | undefined][] = [
    ["max-tokens", tokens],
    ["max-cost", costUsd],
    ["max-time", seconds],
    ["max-steps", steps],
  ];
  return flags.flatMap(([flag, limit]) => (limit === undefined ? [] : [`--${flag} ${limit}`]));
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
  // One computed key widens to any string; it is this one.
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: number };
}

type LimitFlag = "max-tokens" | "max-cost" | "max-time" | "max-steps";

function whole(values: Values, flag: LimitFlag): number | undefined {
  const value = amount(values, flag);
  if (value === undefined || Number.isSafeInteger(value)) return value;
  throw new UsageError(`--${flag} takes a whole number; not ${JSON.stringify(values[flag])}.`);
}

function amount(values: Values, flag: LimitFlag): number | undefined {
  const text = values[flag];
  if (text === undefined) return undefined;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new UsageError(`--${flag} takes a number above 0; not ${JSON.stringify(text)}.`);
}

function exclude(values: Values, one: keyof Values, other: keyof Values): void {
  if (!isGiven(values[one]) || !isGiven(values[other])) return;
  throw new UsageError(`--${one} and --${other} exclude each other; give one of them.`);
}

function isGiven(value: Values[keyof Values]): boolean {
  return value !== undefined && value !== false;
}

/** The options of `flint exec`. */
export const EXEC_FLAGS = {
  resume: {
    type: "string",
    short: "r",
    takes: "THREAD",
    doc: "go on with a thread: its id, the beginning of it, or its name",
  },
  continue: { type: "boolean", short: "c", doc: "go on with the newest thread of this folder" },
  image: {
    type: "string",
    short: "i",
    multiple: true,
    takes: "FILE",
    doc: "send a picture along (png, jpeg, gif, webp)",
  },
  "output-schema": {
    type: "string",
    takes: "FILE",
    doc: "a JSON Schema for the answer; piped, nothing but the answer is printed",
  },
  json: { type: "boolean", doc: "print every event as one line of JSON" },
  "experimental-json": {
    type: "boolean",
    doc: "do as `codex exec --experimental-json` does, with its options, for programs that start that",
  },
  quiet: { type: "boolean", short: "q", doc: "print only the last message" },
  ephemeral: { type: "boolean", doc: "do not keep the thread" },
  "max-tokens": { type: "string", takes: "N", doc: "stop and ask after this many tokens" },
  "max-cost": { type: "string", takes: "USD", doc: "stop and ask after this much money" },
  "max-time": { type: "string", takes: "SECONDS", doc: "stop and ask after this much time at work" },
  "max-steps": { type: "string", takes: "N", doc: "stop and ask after this many calls of the model" },
  ...SERVER_FLAGS,
} as const satisfies Flags;
