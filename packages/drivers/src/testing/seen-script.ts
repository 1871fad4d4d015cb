import { realpathSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What is used of the bundler that the whole repository is built with. */
interface Bundler {
  build(options: object): Promise<unknown>;
}

/** What the sandbox shows empty. */
const HIDDEN = ["/tmp", "/run"];

/**
 * A script of this repository at a place where agents in the sandbox can start it. That is where it lies, unless the
 * repository itself lies where the sandbox shows nothing: then it is a copy elsewhere, with all that it imports.
 */
export async function seenScript(
  script: URL,
  atEnd: (cleanUp: () => Promise<void>) => void,
  hidden: readonly string[] = HIDDEN,
): Promise<string> {
  const path = realpathSync(fileURLToPath(script));
  if (!hidden.some((folder) => path.startsWith(`${folder}/`))) return path;
  const folder = await mkdtemp("/var/tmp/flint-script-");
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const outfile = join(folder, "script.mjs");
  // It works in this process; one that it left behind would be one too many for some tests.
  const bundler: Bundler = createRequire(import.meta.url)("rolldown");
  const output = { file: outfile, format: "esm", codeSplitting: false };
  await bundler.build({ input: path, platform: "node", logLevel: "silent", output });
  return outfile;
}
