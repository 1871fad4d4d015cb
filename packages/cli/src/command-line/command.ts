import { parseArgs } from "node:util";
import { errorMessage } from "@flint/protocol";
import { nearest } from "@flint/view/commands";
import type { Flags, FlagValues } from "./flags.ts";

/** One command: what help and completions say about it, and how it runs. */
export interface Command {
  /** A verb phrase without a full stop. */
  readonly summary: string;
  /** The arguments after its name. */
  readonly usage: string;
  readonly flags: Flags;
  readonly examples: readonly string[];
  /** Further paragraphs of its help. */
  readonly notes?: readonly string[];
  /** The values of its first argument, where that is a fixed list. */
  readonly values?: readonly string[];
  /** Runs it. Resolves with the exit code. */
  run(args: readonly string[]): Promise<number>;
}

/** The parsed arguments of a command. */
export interface ParsedArguments<Of extends Flags> {
  readonly values: FlagValues<Of>;
  readonly positionals: readonly string[];
}

/** Defines a command whose options are parsed by its own table before its code is loaded. */
export function command<const Of extends Flags>(
  row: Omit<Command, "run" | "flags"> & {
    readonly flags: Of;
    run(given: ParsedArguments<Of>): Promise<number>;
  },
): Command {
  return { ...row, run: async (args) => row.run(readArguments(args, row.flags)) };
}

/** Commands under one name, such as `flint threads`. */
export interface CommandGroup {
  readonly summary: string;
  readonly commands: Readonly<Record<string, Command>>;
  /** Short names of its commands, such as `ls` for `list`. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The command that runs if none is named; by default the help is shown. */
  readonly bare?: string;
}

/** Commands that `flint --help` lists under one heading. */
export interface CommandSection {
  readonly title: string;
  readonly commands: Readonly<Record<string, Command | CommandGroup>>;
}

/** Reports whether a name stands for several commands. */
export function isGroup(command: Command | CommandGroup): command is CommandGroup {
  return "commands" in command;
}

/** The alias of a command within its group, if it has one. */
export function aliasOf({ aliases = {} }: CommandGroup, name: string): string | undefined {
  return Object.keys(aliases).find((alias) => aliases[alias] === name);
}

/** A mistake on the command line. The message says what is wrong and what to use instead; the exit code is 2. */
export class UsageError extends Error {
  /** The command whose `--help` explains it. */
  readonly help: string | undefined;

  constructor(message: string, help?: string) {
    super(message);
    this.name = "UsageError";
    this.help = help;
  }
}

/** Parses options and positionals. Throws a UsageError for an unknown option, with the one that was probably meant. */
export function readArguments<const Of extends Flags>(
  args: readonly string[],
  options: Of,
): { readonly values: FlagValues<Of>; readonly positionals: readonly string[] } {
  try {
    const parsed = parseArgs({ args: args.map(shielded), options, allowPositionals: true, strict: true });
    const given = Object.entries(parsed.values).map(([name, value]) => [name, unshieldedValue(value)]);
    // Node derives the same type from `options`, but only for a type that is written out.
    const values = Object.fromEntries(given) as FlagValues<Of>;
    return { values, positionals: parsed.positionals.map(unshielded) };
  } catch (error) {
    throw new UsageError(parseProblem(error, Object.keys(options)));
  }
}

const SHIELD = "\0";

/** A negative number is a value, but Node takes it for an option unless something precedes it. */
function shielded(argument: string): string {
  return /^-\.?\d/.test(argument) ? `${SHIELD}${argument}` : argument;
}

function unshielded(argument: string): string {
  return argument.startsWith(SHIELD) ? argument.slice(1) : argument;
}

function unshieldedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unshieldedValue);
  return typeof value === "string" ? unshielded(value) : value;
}

function parseProblem(error: unknown, known: readonly string[]): string {
  const message = errorMessage(error);
  const [, name] = /^Unknown option '--?([^']+)'/.exec(message) ?? [];
  if (name === undefined) return message;
  const meant = nearest(name, known);
  const hint = meant === undefined ? "" : ` Did you mean --${meant}?`;
  return `Unknown option ${name.length === 1 ? "-" : "--"}${name}.${hint}`;
}

/** Throws a UsageError if a command that takes no arguments was given one. */
export function noArguments(command: string, positionals: readonly string[]): void {
  if (positionals.length === 0) return;
  throw new UsageError(`${command} does not take the argument ${JSON.stringify(positionals[0])}.`);
}

/** The one argument that a command requires. */
export function oneArgument(command: string, positionals: readonly string[], what: string): string {
  const [argument, ...more] = positionals;
  if (argument === undefined) throw new UsageError(`${command} needs ${what}.`);
  if (more.length === 0) return argument;
  const rest = more.map((each) => JSON.stringify(each)).join(" ");
  throw new UsageError(`${command} takes one argument; unexpected ${rest}.`);
}

/** The value of an option with a fixed list of values. */
export function choice<Value extends string>(flag: string, given: string, values: readonly Value[]): Value {
  const found = values.find((value) => value === given);
  if (found !== undefined) return found;
  const list = new Intl.ListFormat("en", { type: "disjunction" }).format(values);
  throw new UsageError(`--${flag} must be ${list}, not ${JSON.stringify(given)}.`);
}

/** The number that an option was given. `what` completes "must be", such as "a number above 0". */
export function numberOption(
  flag: string,
  text: string,
  what: string,
  isValid: (value: number) => boolean,
): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (isValid(value)) return value;
  throw new UsageError(`--${flag} must be ${what}, not ${JSON.stringify(text)}.`);
}
