import { readArguments } from "./arguments.ts";
import type { Flags, FlagValues } from "./flags.ts";

/** One command: what help and completions say of it, and how it is run. */
export interface Command {
  readonly summary: string;
  /** What follows its name. */
  readonly usage: string;
  readonly flags: Flags;
  readonly examples: readonly string[];
  /** More to know, one paragraph each. */
  readonly notes?: readonly string[];
  /** What its first argument may be, where that is a fixed list. */
  readonly values?: readonly string[];
  /** Does it. Resolves with the exit code. */
  run(args: readonly string[]): Promise<number>;
}

/** What a command is given. */
export interface Given<Of extends Flags> {
  readonly values: FlagValues<Of>;
  readonly positionals: readonly string[];
}

/** A command whose options are read before it is loaded, so that each option stands in one place. */
export function command<const Of extends Flags>(
  row: Omit<Command, "run" | "flags"> & {
    readonly flags: Of;
    run(given: Given<Of>): Promise<number>;
  },
): Command {
  return { ...row, run: async (args) => row.run(readArguments(args, row.flags)) };
}

/** Commands under one name. */
export interface CommandGroup {
  readonly summary: string;
  readonly commands: Readonly<Record<string, Command>>;
}

/** Whether a name stands for several commands. */
export function isGroup(command: Command | CommandGroup): command is CommandGroup {
  return "commands" in command;
}
