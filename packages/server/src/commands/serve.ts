import { flintDialect } from "@flint/dialects/flint";
import { composeEngine } from "../compose.ts";
import { serveStdio } from "../serve-stdio.ts";
import { noArguments, type ServerFlagValues, serverOptions } from "./arguments.ts";

/** `flint serve --stdio` and `flint app-server`: Flint's own protocol for one client. */
export async function serve(given: {
  readonly values: ServerFlagValues;
  readonly positionals: readonly string[];
}): Promise<number> {
  noArguments("serve", given.positionals);
  await serveStdio(composeEngine(await serverOptions(given.values)), flintDialect);
  return 0;
}
