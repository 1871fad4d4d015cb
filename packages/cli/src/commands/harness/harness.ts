import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { harnessFrontend } from "@flint/frontends/harness";
import { stateFolder } from "@flint/server/environment";
import { composeEngine, serveStdio } from "@flint/server/serve";
import { noArguments } from "../../command-line/arguments.ts";
import { type ServerFlagValues, serverOptions } from "../../command-line/server-options.ts";

/** `flint harness --cwd DIR`: serves the harness protocol, with threads in `DIR/.harness`. */
export async function harness(given: {
  readonly values: ServerFlagValues;
  readonly positionals: readonly string[];
}): Promise<number> {
  noArguments("harness", given.positionals);
  const options = await serverOptions(given.values);
  const root = join(options.cwd, ".harness");
  keepOutOfGit(root);
  await serveStdio(composeEngine({ ...options, root, userRoot: stateFolder() }), harnessFrontend());
  return 0;
}

/** Makes the folder ignore itself: threads do not belong in the user's repository. */
function keepOutOfGit(root: string): void {
  try {
    mkdirSync(root, { mode: 0o700 });
    writeFileSync(join(root, ".gitignore"), "*\n", { mode: 0o600, flag: "wx" });
  } catch {
    // It exists already, or cannot be created; then the first write reports why.
  }
}
