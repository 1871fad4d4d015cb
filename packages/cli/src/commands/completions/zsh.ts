import { type CompletionFlag, type CompletionNode, groupNames } from "./tree.ts";

/** A completion script for zsh. */
export function zshCompletions(tree: readonly CompletionNode[]): string {
  const cases = tree.map((node) => {
    const words = node.words.map(({ word, meaning }) => quoted(`${escaped(word)}:${meaning}`));
    const describe = words.length === 0 ? "" : `\n      choices=(${words.join(" ")})`;
    const flags = node.flags.map((flag) => quoted(specification(flag)));
    return `    ${quoted(node.path)})${describe}\n      options=(${flags.join(" ")}) ;;`;
  });
  return `#compdef flint
# zsh completions of flint. Use: source <(flint completions zsh)
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

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
