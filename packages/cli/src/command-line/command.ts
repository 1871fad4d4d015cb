import { readArguments } from "./arguments.ts";
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
export interface Given<Of extends Flags> {
  readonly values: FlagValues<Of>;
  readonly positionals: readonly string[];
}

/** Defines a command whose options are parsed by its own table before its code is loaded. */
export function command<const Of extends Flags>(
  row: Omit<Command, "run" | "flags"> & {
    readonly flags: Of;
    run(given: Given<Of>): Promise<number>;
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
}

/** Commands that `flint --help` lists under one heading. */
export interface CommandSection {
  readonly title: string;
  readonly commands: Readonly<Record<string, Command | CommandGroup>>;
}

/** Whether a name stands for several commands. */
export function isGroup(command: Command | CommandGroup): command is CommandGroup {
  return "commands" in command;
}

/** The alias of a command within its group, if it has one. */
export function aliasOf({ aliases = {} }: CommandGroup, name: string): string | undefined {
  return Object.keys(aliases).find((alias) => aliases[alias] === name);
}
