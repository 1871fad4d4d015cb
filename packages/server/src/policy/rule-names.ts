import { nearest } from "@flint/view/commands";

/** The tools that every agent has. */
export const TOOL = { shell: "shell", edit: "edit" } as const;

/** The names that agents and protocols have for these tools: a rule with such a name would match nothing. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  command: TOOL.shell,
  bash: TOOL.shell,
  exec_command: TOOL.shell,
  fileChange: TOOL.edit,
  write: TOOL.edit,
  multiedit: TOOL.edit,
  notebookedit: TOOL.edit,
  apply_patch: TOOL.edit,
  write_file: TOOL.edit,
  edit_file: TOOL.edit,
};

/** The tool that was probably meant by a name which can never match; undefined if the name may be that of a tool. */
export function resolveToolName(name: string): string | undefined {
  if (name === TOOL.shell || name === TOOL.edit) return undefined;
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  if (server !== undefined) return `${server}/${tool}`;
  if (!/^\w+$/.test(name)) return undefined;
  for (const key of [name, name.toLowerCase()]) if (Object.hasOwn(OTHER_NAMES, key)) return OTHER_NAMES[key];
  return nearest(name, Object.values(TOOL));
}

/** Operators of a shell, and words that end in one or begin a substitution. */
const SHELL_SYNTAX = /^\d*[<>]|^\$\(|^`|[;|&]$/;

/** The first word of a prefix that is never a word of a command, because a shell reads it as syntax. */
export function shellSyntaxIn(prefix: readonly string[]): string | undefined {
  return prefix.find((word) => SHELL_SYNTAX.test(word));
}

/** The message for a name that does not exist, with the one that was probably meant. */
export function unknownName(what: string, given: string, known: readonly string[]): string {
  const meant = nearest(given, known);
  const hint =
    meant === undefined ? `Use one of: ${known.join(", ")}.` : `Did you mean ${JSON.stringify(meant)}?`;
  return `unknown ${what} ${JSON.stringify(given)}. ${hint}`;
}
