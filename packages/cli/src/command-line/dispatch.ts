import { nearest } from "@flint/server/config";
import { UsageError } from "./arguments.ts";
import { type Command, type CommandGroup, isGroup } from "./command.ts";
import { commandHelp, groupHelp, overview } from "./help.ts";
import { say } from "./output.ts";
import { COMMANDS } from "./table.ts";

/** Runs the command that the arguments name, or shows its help. Resolves with its exit code. */
export async function dispatch(args: readonly string[]): Promise<number> {
  const [name = "--help", ...rest] = args;
  if (name === "help" && rest.length > 0) return dispatch([...rest, "--help"]);
  if (name === "--help" || name === "-h" || name === "help") return say(overview());
  const found = lookUp(COMMANDS, name, "flint");
  return isGroup(found) ? dispatchInGroup(name, found, rest) : run(name, found, rest);
}

async function dispatchInGroup(group: string, found: CommandGroup, args: readonly string[]): Promise<number> {
  const [name = "--help", ...rest] = args;
  if (name === "--help" || name === "-h") return say(groupHelp(group, found));
  return run(`${group} ${name}`, lookUp(found.commands, name, `flint ${group}`), rest);
}

async function run(name: string, command: Command, args: readonly string[]): Promise<number> {
  const end = args.indexOf("--");
  const options = end === -1 ? args : args.slice(0, end);
  if (options.includes("--help") || options.includes("-h")) return say(commandHelp(name, command));
  // Expected: a wrong use. Its own help is where the way out stands.
  try {
    return await command.run(args);
  } catch (thrown) {
    if (!(thrown instanceof UsageError) || thrown.help !== undefined) throw thrown;
    throw new UsageError(thrown.message, `flint ${name}`);
  }
}

function lookUp<Row extends Command | CommandGroup>(
  rows: Readonly<Record<string, Row>>,
  name: string,
  where: string,
): Row {
  const row = Object.hasOwn(rows, name) ? rows[name] : undefined;
  if (row !== undefined) return row;
  const known = Object.keys(rows);
  const meant = nearest(name, known);
  const hint = meant === undefined ? `There are: ${known.join(", ")}.` : `Did you mean ${where} ${meant}?`;
  throw new UsageError(`There is no command ${JSON.stringify(name)}. ${hint}`, where);
}
