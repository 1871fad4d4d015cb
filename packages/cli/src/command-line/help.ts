import { VERSION } from "../version.ts";
import type { Command, CommandGroup } from "./command.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import type { Flag, Flags } from "./flags.ts";
import { COMMANDS } from "./table.ts";

/** What `flint --help` says. */
export function overview(): string {
  const commands = Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary] as const);
  return `flint ${VERSION}: one harness for every coding agent

${listed(commands)}

Try:
  flint exec "show me what you can do"
  flint doctor
  flint exec "run the tests"                 # needs a real model: flint doctor says how to get one

flint COMMAND --help says more about each, with examples.

Your configuration is in $FLINT_CONFIG, else $XDG_CONFIG_HOME/flint/config.toml, else ~/.config/flint/config.toml;
flint config keys says what it takes. $FLINT_MODEL is the model of new threads.
Threads are kept in $FLINT_HOME, else $XDG_STATE_HOME/flint, else ~/.local/state/flint.
docs/protocol/environment.md has every variable.
Exit codes:
${listed(Object.entries(EXIT_CODES))}
`;
}

/** What help says about commands under one name. */
export function groupHelp(name: string, { summary, commands }: CommandGroup): string {
  const rows = Object.entries(commands).map(
    ([sub, row]) => [`${sub} ${row.usage}`.trim(), row.summary] as const,
  );
  const examples = Object.values(commands).flatMap((command) => command.examples.slice(0, 1));
  return `flint ${name}: ${summary}\n\n${listed(rows)}\n\n${exampleLines(examples)}`;
}

/** What help says about one command. */
export function commandHelp(name: string, { summary, usage, flags, examples, notes = [] }: Command): string {
  const options = listed(Object.entries(flags).map(([flag, row]) => [flagText(flag, row), row.doc] as const));
  const paragraphs = [
    `flint ${name}: ${summary}`,
    `Usage: flint ${name}${usage === "" ? "" : ` ${usage}`}${isBare(flags) ? "" : " [OPTIONS]"}`,
    `Options:\n${options}`,
    ...(notes.length === 0 ? [] : [notes.join("\n")]),
  ];
  return `${paragraphs.join("\n\n")}\n\n${exampleLines(examples)}`;
}

function isBare(flags: Flags): boolean {
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

/** Two columns; what is too long for the second goes on below itself. */
function listed(rows: readonly (readonly [string, string])[]): string {
  const left = Math.max(...rows.map(([name]) => name.length)) + 2;
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
