import { type CompletionNode, groupNames } from "./tree.ts";

/** A completion script for bash. */
export function bashCompletions(tree: readonly CompletionNode[]): string {
  const cases = tree.map(({ path, words, flags }) => {
    const all = [...words.map(({ word }) => word), ...flags.map(({ name }) => `--${name}`)];
    return `    "${path}") words="${all.join(" ")}" ;;`;
  });
  const values = valueCases(tree);
  return `# bash completions of flint. Use: source <(flint completions bash)
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
