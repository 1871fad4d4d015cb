import { complain, say } from "../commands/output.ts";
import { VERSION } from "../version.ts";

/** The `flint` command. Resolves with its exit code. */
export async function main(args: readonly string[]): Promise<number> {
  // Everything Flint writes is for its user alone.
  process.umask(0o077);
  const [name = "--help"] = args;
  if (name === "--version" || name === "-V") return say(`${VERSION}\n`);
  try {
    const { dispatch } = await import("../commands/dispatch.ts");
    return await dispatch(args);
  } catch (error) {
    // The last catch of the program: a wrong use gets a sentence and a way out, anything else its message.
    const message = error instanceof Error ? error.message : String(error);
    const isMistake = error instanceof Error && ["UsageError", "ConfigError"].includes(error.name);
    return complain(isMistake ? `${message}\nRun "flint --help" for examples.` : message, isMistake ? 2 : 1);
  }
}
