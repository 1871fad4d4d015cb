import { inheritedEnvironment, keepPrivate } from "@flint/server/environment";
import { complain, say } from "./command-line/output.ts";
import { lossOf, watchStandardStreams } from "./command-line/standard-streams.ts";
import { VERSION } from "./version.ts";

/** The `flint` command. Resolves with its exit code. */
export async function main(args: readonly string[]): Promise<number> {
  keepPrivate();
  const [name = "--help"] = args;
  const streams = watchStandardStreams();
  if (name === "--version" || name === "-V") return say(`${VERSION}\n`);
  try {
    const { dispatch } = await import("./command-line/dispatch.ts");
    const code = await dispatch(args);
    await streams.written();
    const { failure } = streams;
    // Who was to read it knows best why it stopped; a place that takes no more is a failure nobody else would tell.
    const isLost = failure !== undefined && lossOf(failure) === "unwritable";
    return isLost
      ? complain(`The output cannot be written: ${failure.message}.`, code === 0 ? 1 : code)
      : code;
  } catch (error) {
    // The last catch of the program: a wrong use gets a sentence and a way out, anything else its message.
    const message = await withoutSecrets(error instanceof Error ? error.message : String(error));
    const wayOut = wayOutOf(error);
    return wayOut === undefined ? complain(message, 1) : complain(`${message}\n${wayOut}`, 2);
  }
}

/** Where somebody finds how it is done; undefined if the fault is not in how Flint was called. */
function wayOutOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === "ConfigError") return 'Run "flint config keys" for every key and what it takes.';
  if (error.name !== "UsageError") return undefined;
  const command = "help" in error && typeof error.help === "string" ? error.help : "flint";
  return `Run "${command} --help" for examples.`;
}

/** What a library says about a failed request may repeat the key that the request was made with. */
async function withoutSecrets(text: string): Promise<string> {
  const { redact, secretsIn } = await import("@flint/core");
  return redact(text, secretsIn(inheritedEnvironment()));
}
