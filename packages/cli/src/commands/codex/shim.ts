import { type Command, command, UsageError } from "../../command-line/command.ts";
import { print } from "../../command-line/output.ts";
import { VERSION } from "../../version.ts";
import { CODEX_EXEC_FLAGS, SHIM_SERVER_FLAGS } from "./flags.ts";

const appServer = command({
  summary: "Serve the Codex app-server protocol on stdin and stdout",
  usage: "app-server",
  flags: SHIM_SERVER_FLAGS,
  examples: ["flint codex-shim app-server"],
  run: async (given) => (await import("./app-server.ts")).shimAppServer(given),
});

/** Stands in for `codex exec --experimental-json`. */
export const codexExecCommand = command({
  summary: "Run one turn and print the lines of `codex exec --experimental-json`",
  usage: "--experimental-json [resume THREAD]",
  flags: CODEX_EXEC_FLAGS,
  examples: ['echo "what is in this folder?" | flint exec --experimental-json'],
  notes: [
    "The prompt is read from standard input. There are no approval prompts; anything that the sandbox blocks fails.",
  ],
  run: async (given) => (await import("./exec.ts")).codexExec(given),
});

/** The commands of `codex` that Flint stands in for. */
const COMMANDS: Readonly<Record<string, Command>> = { "app-server": appServer, exec: codexExecCommand };

const AVAILABLE = "Available: app-server, exec and --version.";

/** `flint codex-shim` and `flint-codex`: stand in for the `codex` program for clients that run it. */
export async function codexShim(args: readonly string[]): Promise<number> {
  const { settings, name, rest } = split(args);
  if (name === "--version" || name === "-V") return printVersion();
  const found = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (found === undefined) {
    const what =
      name === undefined
        ? "codex-shim needs a command."
        : `codex-shim does not support ${JSON.stringify(name)}.`;
    throw new UsageError(`${what} ${AVAILABLE}`);
  }
  return found.run([...settings, ...rest]);
}

/** Prints the version of Codex whose protocol is served, which clients check. */
async function printVersion(): Promise<number> {
  const { CODEX_VERSION } = await import("@flint/protocol/codex");
  return print(`codex-cli ${CODEX_VERSION} (flint ${VERSION})\n`);
}

/** Settings may also precede the name of the command. */
function split(args: readonly string[]) {
  let at = 0;
  while (args[at] === "-c" || args[at] === "--config") at += 2;
  return { settings: args.slice(0, at), name: args[at], rest: args.slice(at + 1) };
}

/** `flint exec`, which behaves like `codex exec` with `--experimental-json`. */
export function execOrCodexExec(exec: Command): Command {
  return { ...exec, run: (args) => (usesCodexFormat(args) ? codexExecCommand : exec).run(args) };
}

/** Reports whether the arguments of `exec` ask for Codex's format. */
export function usesCodexFormat(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return (end === -1 ? args : args.slice(0, end)).includes("--experimental-json");
}
