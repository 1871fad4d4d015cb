import { VERSION } from "../version.ts";
import { aliasOf, type Command, type CommandGroup } from "./command.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import type { Flag, Flags } from "./flags.ts";
import { SECTIONS } from "./table.ts";

/** The text of `flint --help`. */
export function overview(): string {
  const names = SECTIONS.flatMap(({ commands }) => Object.keys(commands));
  const left = Math.max(...names.map((name) => name.length)) + 2;
  const sections = SECTIONS.map(({ title, commands }) => {
    const rows = Object.entries(commands).map(([name, { summary }]) => [name, summary] as const);
    return `${title}:\n${listed(rows, left)}`;
  });
  return `flint ${VERSION}: one harness for every coding agent

Usage: flint ["PROMPT"] [OPTIONS]       open a session in the terminal; flint resume continues one
       flint COMMAND [OPTIONS]
       flint -p "PROMPT" [OPTIONS]      print one answer and exit; the same as flint exec "PROMPT"

${sections.join("\n\n")}

Try:
  flint exec --offline "show me what you can do"
  flint doctor
  flint exec "fix the failing test"     # needs a real model; flint doctor shows how to set one up

Run flint COMMAND --help for options and examples.

Configuration: $FLINT_CONFIG, or $XDG_CONFIG_HOME/flint/config.toml, or ~/.config/flint/config.toml;
               flint config keys lists every key. $FLINT_MODEL sets the model for new threads.
Threads:       $FLINT_HOME, or $XDG_STATE_HOME/flint, or ~/.local/state/flint

Exit codes:
${listed(Object.entries(EXIT_CODES))}
`;
}

/** The help of commands under one name. */
export function groupHelp(name: string, group: CommandGroup): string {
  const rows = Object.entries(group.commands).map(([sub, row]) => {
    const alias = aliasOf(group, sub);
    const names = alias === undefined ? sub : `${sub}, ${alias}`;
    return [`${names} ${row.usage}`.trim(), row.summary] as const;
  });
  const examples = Object.values(group.commands).flatMap((command) => command.examples.slice(0, 1));
  return `${group.summary}\n\nUsage: flint ${name} COMMAND\n\nCommands:\n${listed(rows)}\n\n${exampleLines(examples)}`;
}

/** The help of one command. */
export function commandHelp(name: string, { summary, usage, flags, examples, notes = [] }: Command): string {
  const options = listed(Object.entries(flags).map(([flag, row]) => [flagText(flag, row), row.doc] as const));
  const paragraphs = [
    summary,
    `Usage: flint ${name}${usage === "" ? "" : ` ${usage}`}${hasOnlyHelp(flags) ? "" : " [OPTIONS]"}`,
    `Options:\n${options}`,
    ...(notes.length === 0 ? [] : [wrapped(notes.join(" "), WIDTH).join("\n")]),
  ];
  return `${paragraphs.join("\n\n")}\n\n${exampleLines(examples)}`;
}

function hasOnlyHelp(flags: Flags): boolean {
  return Object.keys(flags).every((flag) => flag === "help");
}

function flagText(name: string, { short, takes, multiple }: Flag): string {
  const head = short === undefined ? `--${name}` : `-${short}, --${name}`;
  return `${head}${takes === undefined ? "" : ` ${takes}`}${multiple === true ? " ..." : ""}`;
}

function exampleLines(examples: readonly string[]): string {
  return `Examples:\n${examples.map((example) => `  ${example}\n`).join("")}`;
}

const WIDTH = 96;

/** Two columns; a long text continues below itself. */
function listed(
  rows: readonly (readonly [string, string])[],
  left = Math.max(...rows.map(([name]) => name.length)) + 2,
): string {
  return rows
    .map(([name, text]) => {
      const [first = "", ...more] = wrapped(text, WIDTH - left - 2);
      return [`  ${name.padEnd(left)}${first}`, ...more.map((line) => `  ${"".padEnd(left)}${line}`)].join(
        "\n",
      );
    })
    .join("\n");
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
