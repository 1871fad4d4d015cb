import type { CompletionNode } from "./tree.ts";

/** A completion script for fish. */
export function fishCompletions(tree: readonly CompletionNode[]): string {
  const lines = tree.flatMap((node) => [...wordLines(node), ...flagLines(node)]);
  return `# fish completions of flint. Use: flint completions fish > ~/.config/fish/completions/flint.fish
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
    ({ word, meaning }) => `complete -c flint -n ${quoted(condition)} -a ${word} -d ${quoted(meaning)}`,
  );
}

function flagLines({ path, flags }: CompletionNode): string[] {
  return flags.map(({ name, short, takesValue, takes, values, meaning }) => {
    const parts = [`complete -c flint -n ${quoted(`__flint_in ${path}`)} -l ${name}`];
    if (short !== undefined) parts.push(`-s ${short}`);
    if (takesValue) parts.push(takes === "FILE" || takes === "DIR" ? "-r -F" : "-x");
    if (values.length > 0) parts.push(`-a ${quoted(values.join(" "))}`);
    return [...parts, `-d ${quoted(meaning)}`].join(" ");
  });
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
