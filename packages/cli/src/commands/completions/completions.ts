import { basename } from "node:path";
import { singleQuote } from "@flint/core/text";
import { setting } from "@flint/server/environment";
import {
  type Command,
  type CommandGroup,
  isGroup,
  noArguments,
  UsageError,
} from "../../command-line/command.ts";
import type { Flag } from "../../command-line/flags.ts";
import { print } from "../../command-line/output.ts";

const SHELLS = { bash: bashCompletions, zsh: zshCompletions, fish: fishCompletions } as const;

/** `flint completions [SHELL]`: prints a completion script for the given shell, or the user's own. */
export async function completions(
  { positionals }: { readonly positionals: readonly string[] },
  commands: CommandTable,
): Promise<number> {
  const [named, ...more] = positionals;
  noArguments("completions", more);
  const shell = named ?? basename(setting("SHELL") ?? "bash");
  if (shell !== "bash" && shell !== "zsh" && shell !== "fish") {
    throw new UsageError(
      `Completions are available for bash, zsh and fish, not for ${JSON.stringify(shell)}.`,
    );
  }
  return print(SHELLS[shell](completionTree(commands)));
}

/** A completion script for bash. */
function bashCompletions(tree: readonly CompletionNode[]): string {
  const cases = tree.map(({ path, words, flags }) => {
    const all = [...words.map(({ word }) => word), ...flags.map(({ name }) => `--${name}`)];
    return `    "${path}") words="${all.join(" ")}" ;;`;
  });
  const values = valueCases(tree);
  return `# bash completions for flint. Use: source <(flint completions bash)
_flint() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path="" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; esac
    case " ${groupNames(tree).join(" ")} " in
      *" $path "*) path="$path $word"; break ;;
    esac
    [ -z "$path" ] && path="$word"
  done
  case "$previous" in
${values.join("\n")}
  esac
  case "$path" in
${cases.join("\n")}
    *) words="" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _flint flint
`;
}

function valueCases(tree: readonly CompletionNode[]): string[] {
  const flags = new Map(tree.flatMap((node) => node.flags).map((flag) => [flag.name, flag]));
  return [...flags.values()].flatMap(({ name, takes, values }) => {
    if (values.length > 0)
      return [`    --${name}) COMPREPLY=($(compgen -W "${values.join(" ")}" -- "$current")); return ;;`];
    if (takes === "DIR") return [`    --${name}) COMPREPLY=($(compgen -d -- "$current")); return ;;`];
    if (takes === "FILE") return [`    --${name}) COMPREPLY=($(compgen -f -- "$current")); return ;;`];
    return takes === undefined ? [] : [`    --${name}) return ;;`];
  });
}

/** A completion script for zsh. */
function zshCompletions(tree: readonly CompletionNode[]): string {
  const cases = tree.map((node) => {
    const words = node.words.map(({ word, meaning }) => singleQuote(`${escaped(word)}:${meaning}`));
    const describe = words.length === 0 ? "" : `\n      choices=(${words.join(" ")})`;
    const flags = node.flags.map((flag) => singleQuote(specification(flag)));
    return `    ${singleQuote(node.path)})${describe}\n      options=(${flags.join(" ")}) ;;`;
  });
  return `#compdef flint
# zsh completions for flint. Use: source <(flint completions zsh)
_flint() {
  local path="" word
  local -a choices options groups
  groups=(${groupNames(tree).join(" ")})
  for word in \${words[2,CURRENT-1]}; do
    [[ $word == -* ]] && break
    if [[ -z $path ]]; then
      path=$word
    elif (( \${groups[(Ie)$path]} )); then
      path="$path $word"
      break
    fi
  done
  case $path in
${cases.join("\n")}
  esac
  if [[ $words[CURRENT] != -* && \${#choices} -gt 0 ]]; then
    _describe flint choices
  else
    _arguments -s "\${options[@]}" '*:file:_files'
  fi
}
compdef _flint flint
`;
}

function specification({ name, meaning, takesValue, takes, values }: CompletionFlag): string {
  const head = `--${name}[${meaning.replaceAll(/[[\]:]/g, " ")}]`;
  if (!takesValue) return head;
  return `${head}:${takes ?? "value"}:${action(takes, values)}`;
}

function action(takes: string | undefined, values: readonly string[]): string {
  if (values.length > 0) return `(${values.join(" ")})`;
  if (takes === "DIR") return "_files -/";
  return takes === "FILE" ? "_files" : " ";
}

function escaped(word: string): string {
  return word.replaceAll(":", "\\:");
}

/** A completion script for fish. */
function fishCompletions(tree: readonly CompletionNode[]): string {
  const lines = tree.flatMap((node) => [...wordLines(node), ...flagLines(node)]);
  return `# fish completions for flint. Use: flint completions fish > ~/.config/fish/completions/flint.fish
function __flint_words
    string match --invert -- '-*' (commandline -opc)[2..-1]
end
function __flint_is
    set -l words (__flint_words)
    test "$words" = "$argv"
end
function __flint_in
    set -l words (__flint_words)
    string match --quiet -- "$argv *" "$words "
end
complete -c flint -f
${lines.join("\n")}
`;
}

function wordLines({ path, words }: CompletionNode): string[] {
  const condition = `__flint_is ${path}`.trim();
  return words.map(
    ({ word, meaning }) =>
      `complete -c flint -n ${fishQuoted(condition)} -a ${word} -d ${fishQuoted(meaning)}`,
  );
}

function flagLines({ path, flags }: CompletionNode): string[] {
  return flags.map(({ name, short, takesValue, takes, values, meaning }) => {
    const parts = [`complete -c flint -n ${fishQuoted(`__flint_in ${path}`)} -l ${name}`];
    if (short !== undefined) parts.push(`-s ${short}`);
    if (takesValue) parts.push(takes === "FILE" || takes === "DIR" ? "-r -F" : "-x");
    if (values.length > 0) parts.push(`-a ${fishQuoted(values.join(" "))}`);
    return [...parts, `-d ${fishQuoted(meaning)}`].join(" ");
  });
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** The table of all commands. */
type CommandTable = Readonly<Record<string, Command | CommandGroup>>;

/** The completions after some words. */
interface CompletionNode {
  /** The words after `flint`, such as `threads list`. */
  readonly path: string;
  /** The words that may follow, with descriptions. */
  readonly words: readonly { readonly word: string; readonly meaning: string }[];
  readonly flags: readonly CompletionFlag[];
}

/** An option that can be completed. */
interface CompletionFlag {
  readonly name: string;
  readonly short: string | undefined;
  readonly takesValue: boolean;
  /** `DIR` and `FILE` are completed by the shell. */
  readonly takes: string | undefined;
  readonly values: readonly string[];
  readonly meaning: string;
}

/** The completions of every command, from the table of commands. */
function completionTree(commands: CommandTable): readonly CompletionNode[] {
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
function groupNames(tree: readonly CompletionNode[]): string[] {
  const below = tree.map(({ path }) => path.split(" ")).filter((words) => words.length > 1);
  return [...new Set(below.flatMap(([group = ""]) => group))];
}
