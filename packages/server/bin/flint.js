#!/usr/bin/env node
import { existsSync } from "node:fs";
import module from "node:module";

const program = new URL("../dist/flint.js", import.meta.url);
if (!existsSync(program)) {
  process.stderr.write('flint is not built. Run "npm run build" in its folder.\n');
  process.exit(1);
}
// Node 22 and later can keep compiled code between runs.
module.enableCompileCache?.();
const { main } = await import(program.href);
process.exitCode = await main(process.argv.slice(2));
// Whatever is left open has had its time; output that is still on its way is written first.
process.stdout.write("", () => process.exit());
