// Makes what runs: the `flint` command as a few files with lazy chunks, and each package as one module.
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundleCommand } from "./build/command.mjs";
import { compileCommand } from "./build/compile.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));

// A build that fails, or runs while the command is in use, leaves the last good one in place.
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

async function buildLibrary(name, outdir) {
  const manifest = JSON.parse(await readFile(`${root}packages/${name}/package.json`, "utf8"));
  const sources = Object.values(manifest.exports).map((entry) => entry["@flint/source"]);
  await build({
    absWorkingDir: root,
    entryPoints: sources.map((source) => `packages/${name}/${source}`),
    outbase: `packages/${name}/src`,
    outdir,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["@flint/source"],
    sourcemap: "linked",
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    logLevel: "error",
  });
}

const packages = await readdir(`${root}packages/`);
const libraries = packages.filter((name) => name !== "cli" && name !== "testkit");
const built = await Promise.allSettled([
  replaceDist("cli", buildCommand),
  ...libraries.map((name) => replaceDist(name, (outdir) => buildLibrary(name, outdir))),
]);
for (const { reason } of built) {
  if (reason === undefined) continue;
  process.stderr.write(`${reason.message}\n`);
  process.exitCode = 1;
}
