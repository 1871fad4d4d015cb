import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { harnessFrontend } from "@flint/frontends/harness";
import { stateFolder } from "@flint/server/environment";
import { composeEngine, serveStdio } from "@flint/server/serve";
import { noArguments } from "../../command-line/arguments.ts";
import { type ServerFlagValues, serverOptions } from "../../command-line/server-options.ts";

/** `flint harness --cwd DIR`: the harness protocol, with its threads under `DIR/.harness`. */
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

/** Transcripts do not belong into the user's repository, so the folder ignores itself. */
function keepOutOfGit(root: string): void {
  try {
    mkdirSync(root, { mode: 0o700 });
    writeFileSync(join(root, ".gitignore"), "*\n", { mode: 0o600, flag: "wx" });
  } catch {
    // It is there already, or cannot be made; in that case the first write says so, and why.
  }
}
