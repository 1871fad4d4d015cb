import { HELP } from "../commands/help.ts";
import { VERSION } from "../version.ts";

/** Each command is loaded only when it is called, so that none pays for another. */
const COMMANDS: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  exec: async (args) => (await import("../commands/exec.ts")).exec(args),
  serve: async (args) => (await import("../commands/serve.ts")).serve(args),
  "app-server": async (args) => (await import("../commands/serve.ts")).serve(args),
  harness: async (args) => (await import("../commands/harness.ts")).harness(args),
  "harness-client": async (args) => (await import("../commands/harness-client.ts")).harnessClient(args),
  schema: async (args) => (await import("../commands/schema.ts")).schema(args),
};

/** The `flint` command. Resolves with its exit code. */
export async function main(args: readonly string[]): Promise<number> {
  // Everything Flint writes is for its user alone.
  process.umask(0o077);
  const [name = "--help", ...rest] = args;
  if (name === "--version" || name === "-V") return say(`${VERSION}\n`);
  if (
    name === "--help" ||
    name === "-h" ||
    name === "help" ||
    rest.includes("--help") ||
    rest.includes("-h")
  ) {
    return say(HELP);
  }
  if (!Object.hasOwn(COMMANDS, name)) {
    return complain(
      `There is no command ${JSON.stringify(name)}. There are: ${Object.keys(COMMANDS).join(", ")}.`,
    );
  }
  try {
    return (await COMMANDS[name]?.(rest)) ?? 0;
  } catch (error) {
    // The last catch of the program: a wrong use gets a sentence, anything else its whole story.
    if (error instanceof Error && error.name === "UsageError") return complain(error.message);
    process.stderr.write(`flint: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

function complain(message: string): number {
  process.stderr.write(`flint: ${message}\nRun "flint --help" for examples.\n`);
  return 2;
}
