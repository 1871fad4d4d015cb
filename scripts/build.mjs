// Builds what is published: the `flint` command as a few files with lazy chunks, and the SDK as ES modules.
import { rename, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { bundleCommand } from "./build/command.mjs";
import { compileCommand } from "./build/compile.mjs";
import { bundleLibrary } from "./build/library.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));

// A failed build leaves the previous one in place.
async function replaceDist(name, make) {
  const dist = `${root}packages/${name}/dist`;
  const next = `${dist}.${process.pid}`;
  try {
    await make(next);
    await rm(dist, { recursive: true, force: true });
    await rename(next, dist);
  } finally {
    await rm(next, { recursive: true, force: true });
  }
}

async function buildCommand(dir) {
  await bundleCommand(root, dir);
  await compileCommand(dir);
}

const built = await Promise.allSettled([
  replaceDist("cli", buildCommand),
  replaceDist("sdk", (dir) => bundleLibrary(root, "sdk", dir)),
]);
for (const { reason } of built) {
  if (reason === undefined) continue;
  process.stderr.write(`${reason.message}\n`);
  process.exitCode = 1;
}
