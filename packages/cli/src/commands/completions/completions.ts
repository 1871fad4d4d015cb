import { basename } from "node:path";
import { singleQuote } from "@flint/core/text";
import { setting } from "@flint/server/environment";
import { noArguments, UsageError } from "../../command-line/arguments.ts";
import { say } from "../../command-line/output.ts";
import {
  type CommandTable,
  type CompletionFlag,
  type CompletionNode,
  completionTree,
  groupNames,
} from "./tree.ts";

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
  return say(SHELLS[shell](completionTree(commands)));
}

/** A completion script for bash. */
export function bashCompletions(tree: readonly CompletionNode[]): string {
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
export function zshCompletions(tree: readonly CompletionNode[]): string {
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
export function fishCompletions(tree: readonly CompletionNode[]): string {
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
