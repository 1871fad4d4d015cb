import { parseArgs } from "node:util";
import { nearest } from "@flint/view/commands";
import { session } from "../commands/session/table.ts";
import { type Command, type CommandGroup, isGroup, UsageError } from "./command.ts";
import { commandHelp, groupHelp, overview } from "./help.ts";
import { isPrint, opensSession } from "./opens-session.ts";
import { print } from "./output.ts";
import { eraseFirstFrame } from "./shown-frame.ts";
import { COMMANDS } from "./table.ts";

/** Runs the command that the arguments name, or shows its help. Resolves with its exit code. */
export async function dispatch(args: readonly string[]): Promise<number> {
  const given = printing(args) ?? args;
  if (given[0] === "--version" || given[0] === "-V") return dispatch(["version"]);
  const named = withCommandFirst(given);
  if (named !== undefined) return dispatchNamed(named);
  if (opensSession(given)) return run("", session, given);
  const [name = "--help", ...rest] = given;
  if (name === "help" && rest.length > 0) return dispatch([...rest, "--help"]);
  if (name === "--help" || name === "-h" || name === "help") return print(overview());
  const found = lookUp(COMMANDS, name, "flint");
  return isGroup(found) ? dispatchInGroup(name, found, rest) : run(name, found, rest);
}

/** Runs a command whose options were given before its name; in a group the options may belong to any of its commands. */
async function dispatchNamed([name = "", ...rest]: readonly string[]): Promise<number> {
  const found = lookUp(COMMANDS, name, "flint");
  if (isGroup(found))
    throw new UsageError(`Options come after the command: flint ${name} …`, `flint ${name}`);
  // A session was expected; another command has a screen of its own.
  if (name !== "resume") eraseFirstFrame();
  return run(name, found, rest);
}

/** The name of the command first, if options of a session are before it: its name is no prompt. */
function withCommandFirst(args: readonly string[]): readonly string[] | undefined {
  if (args[0]?.startsWith("-") !== true) return undefined;
  const { flags: options } = session;
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const first = tokens.find(({ kind }) => kind !== "option");
  if (first?.kind !== "positional") return undefined;
  const isName = [COMMANDS, INSTEAD].some((names) => Object.hasOwn(names, first.value));
  return isName ? [first.value, ...args.toSpliced(first.index, 1)] : undefined;
}

/** `flint -p "PROMPT"`, with options before or after, is `flint exec "PROMPT"`. */
function printing(args: readonly string[]): readonly string[] | undefined {
  if (args[0]?.startsWith("-") !== true) return undefined;
  const end = args.indexOf("--");
  const at = args.findIndex((arg, index) => isPrint(arg) && (end === -1 || index < end));
  return at === -1 ? undefined : ["exec", ...args.toSpliced(at, 1)];
}

async function dispatchInGroup(group: string, found: CommandGroup, args: readonly string[]): Promise<number> {
  const [given = "--help", ...rest] = withCommand(found, args);
  if (given === "--help" || given === "-h") return print(groupHelp(group, found));
  const { aliases = {} } = found;
  const name = (Object.hasOwn(aliases, given) ? aliases[given] : undefined) ?? given;
  return run(`${group} ${name}`, lookUp(found.commands, name, `flint ${group}`), rest);
}

/** The arguments of a group with the command that is meant if none is named. */
function withCommand({ bare }: CommandGroup, args: readonly string[]): readonly string[] {
  const [given = ""] = args;
  const isNamed = given !== "" && !given.startsWith("-");
  return bare === undefined || isNamed || given === "--help" || given === "-h" ? args : [bare, ...args];
}

async function run(name: string, command: Command, args: readonly string[]): Promise<number> {
  const end = args.indexOf("--");
  const options = end === -1 ? args : args.slice(0, end);
  if (options.includes("--help") || options.includes("-h")) return print(commandHelp(name, command));
  // Expected: a usage error, which is answered with the help of this command.
  try {
    return await command.run(args);
  } catch (thrown) {
    if (!(thrown instanceof UsageError) || thrown.help !== undefined) throw thrown;
    throw new UsageError(thrown.message, `flint ${name}`.trimEnd());
  }
}

function lookUp<Row extends Command | CommandGroup>(
  rows: Readonly<Record<string, Row>>,
  name: string,
  where: string,
): Row {
  const row = Object.hasOwn(rows, name) ? rows[name] : undefined;
  if (row !== undefined) return row;
  throw new UsageError(
    `Unknown command ${JSON.stringify(name)}. ${hintFor(name, Object.keys(rows), where)}`,
    where,
  );
}

/** Names that people know from other programs, and what Flint has instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  login: "Log in with the agent's own command: flint acp --login AGENT, such as claude or codex.",
  logout: "Log out with the agent's own command, such as claude auth logout or codex logout.",
  ls: "List threads with flint threads ls, and tasks with flint tasks.",
  mcp: "MCP servers are in your configuration: flint config keys lists mcp_servers, and flint trust reviews a project's.",
  undo: "Undo the last turn with flint threads revert last --files restore.",
  review: 'Review changes with flint exec "review my changes", or /review in a session.',
  update: "Update Flint where you installed it: git pull && npm ci.",
};

/** Suggests a command to run instead: a known counterpart, or the most similar one. */
function hintFor(name: string, known: readonly string[], where: string): string {
  const instead = where === "flint" && Object.hasOwn(INSTEAD, name) ? INSTEAD[name] : undefined;
  if (instead !== undefined) return instead;
  const meant = nearest(name, known);
  return meant === undefined ? `Commands: ${known.join(", ")}.` : `Did you mean ${where} ${meant}?`;
}
