import { type Command, type CommandGroup, isGroup } from "../../../packages/cli/src/command-line/command.ts";
import { code, GENERATED, page, table } from "../markdown.ts";

/** Parts of the page of the command line. */
export interface CliPageParts {
  readonly commands: Readonly<Record<string, Command | CommandGroup>>;
  readonly exitCodes: Readonly<Record<string, string>>;
}

/** Every command with its options and examples. */
export function cliPage({ commands, exitCodes }: CliPageParts): string {
  const sections = Object.entries(commands).flatMap(([name, row]) =>
    isGroup(row)
      ? Object.entries(row.commands).flatMap(([sub, command]) => section(`flint ${name} ${sub}`, command))
      : section(`flint ${name}`, row),
  );
  return page([
    GENERATED,
    "# The command line",
    "`flint COMMAND --help` prints the same text in the terminal.",
    "## Exit codes",
    table(["Code", "Meaning"], Object.entries(exitCodes)),
    ...sections,
  ]);
}

function section(name: string, { summary, usage, flags, examples, notes = [] }: Command): string[] {
  const rows = Object.entries(flags)
    .filter(([flag]) => flag !== "help")
    .map(([flag, { short, takes, doc }]) => {
      const long = takes === undefined ? `--${flag}` : `--${flag} ${takes}`;
      return [code(short === undefined ? long : `-${short}, ${long}`), doc];
    });
  return [
    `## ${code(`${name} ${usage}`.trim())}`,
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    // The lines of a terminal, which may end in the middle of a sentence.
    ...(notes.length === 0 ? [] : [notes.join("\n")]),
    rows.length === 0 ? "" : table(["Option", "What it does"], rows),
    ["```", ...examples, "```"].join("\n"),
  ];
}
