import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

/** Makes one file of a program, whose relative imports are those of this folder, so that another process can run it. */
export async function bundle(folder: string, program: string): Promise<string> {
  const here = fileURLToPath(new URL("./", import.meta.url));
  const input = join(folder, "program.js");
  writeFileSync(input, program.replaceAll('from "./', `from "${here}`));
  const file = join(folder, "program.mjs");
  await build({
    input,
    platform: "node",
    resolve: { conditionNames: ["@flint/source", "import", "node", "default"] },
    output: { file, format: "esm", codeSplitting: false },
    logLevel: "silent",
  });
  return file;
}
