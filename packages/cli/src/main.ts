import { errorMessage } from "@flint/protocol";
import { inheritedEnvironment, usePrivateUmask } from "@flint/server/environment";
import type { FirstFrame } from "@flint/tui/first-frame";
import { errorCodeOf } from "./command-line/exit-codes.ts";
import { outputFailureOf, printError, watchStandardStreams } from "./command-line/output.ts";
import { eraseFirstFrame, keepFirstFrame } from "./command-line/shown-frame.ts";

/** The `flint` command. Resolves with its exit code. The first frame of a session may be on the terminal already. */
export async function main(args: readonly string[], firstFrame?: FirstFrame): Promise<number> {
  usePrivateUmask();
  keepFirstFrame(firstFrame);
  const streams = watchStandardStreams();
  try {
    const { dispatch } = await import("./command-line/dispatch.ts");
    const code = await dispatch(args);
    eraseFirstFrame();
    await streams.written();
    const { failure } = streams;
    // A closed pipe is the reader's choice; output that cannot be written is a failure that must be reported.
    const isLost = failure !== undefined && outputFailureOf(failure) === "unwritable";
    return isLost ? printError(`Cannot write the output: ${failure.message}.`, code === 0 ? 1 : code) : code;
  } catch (error) {
    eraseFirstFrame();
    // The last catch of the program: a usage error gets a hint, anything else only its message.
    const message = await withoutSecrets(errorMessage(error));
    const hint = hintFor(error);
    return hint === undefined
      ? printError(message, errorCodeOf(error))
      : printError(`${message}\n${hint}`, 2);
  }
}

/** Returns the place to find help; undefined unless the error is in how Flint was called or configured. */
function hintFor(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === "ConfigError") return 'Run "flint config keys" for all keys and their values.';
  if (error.name !== "UsageError") return undefined;
  const command = "help" in error && typeof error.help === "string" ? error.help : "flint";
  return `Run "${command} --help" for usage.`;
}

/** Redacts secrets: the error of a failed request may contain its API key. */
async function withoutSecrets(text: string): Promise<string> {
  const { redact, secretsIn } = await import("@flint/core");
  return redact(text, secretsIn(inheritedEnvironment()));
}
