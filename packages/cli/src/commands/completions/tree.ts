import { type Command, type CommandGroup, isGroup } from "../../command-line/command.ts";
import type { Flag } from "../../command-line/flags.ts";

/** The table of all commands. */
export type CommandTable = Readonly<Record<string, Command | CommandGroup>>;

/** The completions after some words. */
export interface CompletionNode {
  /** The words after `flint`, such as `threads list`. */
  readonly path: string;
  /** The words that may follow, with descriptions. */
  readonly words: readonly { readonly word: string; readonly meaning: string }[];
  readonly flags: readonly CompletionFlag[];
}

/** An option that can be completed. */
export interface CompletionFlag {
  readonly name: string;
  readonly short: string | undefined;
  readonly takesValue: boolean;
  /** `DIR` and `FILE` are completed by the shell. */
  readonly takes: string | undefined;
  readonly values: readonly string[];
  readonly meaning: string;
}

/** The completions of every command, from the table of commands. */
export function completionTree(commands: CommandTable): readonly CompletionNode[] {
  const top = Object.entries(commands).map(([word, { summary }]) => ({ word, meaning: summary }));
  const nodes = Object.entries(commands).flatMap(([name, row]) => {
    if (!isGroup(row)) return [commandNode(name, row)];
    const all = commandsOf(row);
    const words = all.map(([word, { summary }]) => ({ word, meaning: summary }));
    const below = all.map(([sub, command]) => commandNode(`${name} ${sub}`, command));
    return [{ path: name, words, flags: [] }, ...below];
  });
  return [{ path: "", words: top, flags: [] }, ...nodes];
}

/** The commands of a group by name and by alias. */
function commandsOf({ commands, aliases = {} }: CommandGroup): (readonly [string, Command])[] {
  const short = Object.entries(aliases).flatMap(([alias, name]) => {
    const command = commands[name];
    return command === undefined ? [] : [[alias, command] as const];
  });
  return [...Object.entries(commands), ...short];
}

function commandNode(path: string, { flags, values = [] }: Command): CompletionNode {
  return {
    path,
    words: values.map((word) => ({ word, meaning: "" })),
    flags: Object.entries(flags).map(([name, flag]) => flagOf(name, flag)),
  };
}

function flagOf(name: string, { type, short, takes, values = [], doc }: Flag): CompletionFlag {
  return { name, short, takesValue: type === "string", takes, values, meaning: doc };
}

/** The commands that have subcommands. */
export function groupNames(tree: readonly CompletionNode[]): string[] {
  const below = tree.map(({ path }) => path.split(" ")).filter((words) => words.length > 1);
  return [...new Set(below.flatMap(([group = ""]) => group))];
}
