// Runs every example against the built command; each asserts its own result.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);
const tsx = fileURLToPath(new URL("node_modules/tsx/dist/cli.mjs", root));
const examples = readdirSync(new URL("examples/", root))
  .filter((name) => name.endsWith(".ts"))
  .sort();
const results = examples.map((name) => {
  const path = fileURLToPath(new URL(`examples/${name}`, root));
  const { status } = spawnSync(process.execPath, [tsx, "--conditions=@flint/source", path], {
    stdio: "inherit",
  });
  process.stdout.write(`${status === 0 ? "ok  " : "FAIL"} ${name}\n`);
  return status === 0;
});
const failed = results.filter((passed) => !passed).length;
process.stdout.write(`${results.length - failed} passed, ${failed} failed, 0 skipped\n`);
process.exitCode = failed === 0 && results.length > 0 ? 0 : 1;
