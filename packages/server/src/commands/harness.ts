import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { harnessDialect } from "@flint/dialects/harness";
import { composeEngine } from "../compose.ts";
import { serveStdio } from "../serve-stdio.ts";
import { readArguments, SERVER_FLAGS, serverOptions, UsageError } from "./arguments.ts";

/** `flint harness --cwd DIR`: the harness protocol, with its threads under `DIR/.harness`. */
export async function harness(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, SERVER_FLAGS);
  if (positionals.length > 0)
    throw new UsageError(`harness takes no argument ${JSON.stringify(positionals[0])}.`);
  const options = serverOptions(values);
  const cwd = resolve(options.cwd ?? ".");
  const root = join(cwd, ".harness");
  keepOutOfGit(root);
  await serveStdio(composeEngine({ ...options, cwd, root }), harnessDialect);
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
