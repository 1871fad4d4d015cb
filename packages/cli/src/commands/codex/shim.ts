import { UsageError } from "../../command-line/arguments.ts";
import { type Command, command } from "../../command-line/command.ts";
import { say } from "../../command-line/output.ts";
import { VERSION } from "../../version.ts";
import { CODEX_EXEC_FLAGS, SHIM_SERVER_FLAGS } from "./flags.ts";

const appServer = command({
  summary: "the Codex app server on stdin and stdout",
  usage: "app-server",
  flags: SHIM_SERVER_FLAGS,
  examples: ["flint codex-shim app-server"],
  run: async (given) => (await import("./app-server.ts")).shimAppServer(given),
});

/** `codex exec --experimental-json`, for programs that start it. */
export const codexExecCommand = command({
  summary: "one turn with the lines of `codex exec --experimental-json`",
  usage: "--experimental-json [resume THREAD]",
  flags: CODEX_EXEC_FLAGS,
  examples: ['echo "what is in this folder?" | flint exec --experimental-json'],
  notes: [
    "The prompt is read from standard input. Nobody is asked anything: what the sandbox does not let happen does not happen.",
  ],
  run: async (given) => (await import("./exec.ts")).codexExec(given),
});

/** What stands in for a command of `codex`. */
const COMMANDS: Readonly<Record<string, Command>> = { "app-server": appServer, exec: codexExecCommand };

const CAN = "It can be asked for app-server, exec and --version.";

/** `flint codex-shim` and `flint-codex`: takes the place of the `codex` program for clients that start one. */
export async function codexShim(args: readonly string[]): Promise<number> {
  const { settings, name, rest } = split(args);
  if (name === "--version" || name === "-V") return sayVersion();
  const found = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (found === undefined) {
    const what =
      name === undefined ? "codex-shim needs a command." : `codex-shim has no ${JSON.stringify(name)}.`;
    throw new UsageError(`${what} ${CAN}`);
  }
  return found.run([...settings, ...rest]);
}

/** Clients look for the version of Codex whose words they will hear. */
async function sayVersion(): Promise<number> {
  const { CODEX_VERSION } = await import("@flint/protocol/codex");
  return say(`codex-cli ${CODEX_VERSION} (flint ${VERSION})\n`);
}

/** Settings may stand before the name of the command too. */
function split(args: readonly string[]) {
  let at = 0;
  while (args[at] === "-c" || args[at] === "--config") at += 2;
  return { settings: args.slice(0, at), name: args[at], rest: args.slice(at + 1) };
}

/** `flint exec`, which is that of Codex when it is told to print Codex's lines. */
export function orCodexExec(exec: Command): Command {
  return { ...exec, run: (args) => (printsCodexLines(args) ? codexExecCommand : exec).run(args) };
}

/** Whether an `exec` asks for the lines of Codex. */
export function printsCodexLines(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return (end === -1 ? args : args.slice(0, end)).includes("--experimental-json");
}
