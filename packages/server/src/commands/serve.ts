import { resolve } from "node:path";
import { flintDialect } from "@flint/dialects/flint";
import { composeEngine } from "../compose.ts";
import { serveStdio } from "../serve-stdio.ts";
import { readArguments, SERVER_FLAGS, serverOptions, UsageError } from "./arguments.ts";

/** `flint serve --stdio` and `flint app-server`: Flint's own protocol for one client. */
export async function serve(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { ...SERVER_FLAGS, stdio: { type: "boolean" } });
  if (positionals.length > 0)
    throw new UsageError(`serve takes no argument ${JSON.stringify(positionals[0])}.`);
  const options = serverOptions(values);
  const cwd = resolve(options.cwd ?? ".");
  await serveStdio(composeEngine({ ...options, cwd }), flintDialect);
  return 0;
}
