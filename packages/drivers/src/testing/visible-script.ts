import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { agentFolder, isCovered } from "@flint/testkit";

/** The part in use of the bundler that the whole repository is built with. */
interface Bundler {
  build(options: object): Promise<unknown>;
}

/**
 * The path of a script of this repository at which agents in the sandbox can start it. That is its own path, unless the
 * sandbox hides the repository: then it is a bundled copy with everything that it imports.
 */
export async function visibleScript(script: URL, isHidden = isCovered): Promise<string> {
  const path = realpathSync(fileURLToPath(script));
  if (!isHidden(path)) return path;
  const outfile = (await agentFolder()).join("script.mjs");
  // It works in this process; one that it left behind would be one too many for some tests.
  const bundler: Bundler = createRequire(import.meta.url)("rolldown");
  const output = { file: outfile, format: "esm", codeSplitting: false };
  await bundler.build({ input: path, platform: "node", logLevel: "silent", output });
  return outfile;
}
