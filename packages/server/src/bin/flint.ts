import { complain, say } from "../commands/output.ts";
import { inheritedEnvironment, keepPrivate } from "../config.ts";
import { VERSION } from "../version.ts";

/** The `flint` command. Resolves with its exit code. */
export async function main(args: readonly string[]): Promise<number> {
  keepPrivate();
  const [name = "--help"] = args;
  if (name === "--version" || name === "-V") return say(`${VERSION}\n`);
  try {
    const { dispatch } = await import("../commands/dispatch.ts");
    return await dispatch(args);
  } catch (error) {
    // The last catch of the program: a wrong use gets a sentence and a way out, anything else its message.
    const message = await withoutSecrets(error instanceof Error ? error.message : String(error));
    const isMistake = error instanceof Error && ["UsageError", "ConfigError"].includes(error.name);
    return complain(isMistake ? `${message}\nRun "flint --help" for examples.` : message, isMistake ? 2 : 1);
  }
}

/** What a library says about a failed request may repeat the key that the request was made with. */
async function withoutSecrets(text: string): Promise<string> {
  const { redact, secretsIn } = await import("@flint/core");
  return redact(text, secretsIn(inheritedEnvironment()));
}
