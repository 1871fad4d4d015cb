// Makes what runs: the `flint` command as a few files with lazy chunks, and each package as one module.
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { rolldown } from "rolldown";
import { Chunks } from "./build/chunks.mjs";
import { ownZod } from "./build/own-zod.mjs";

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
  const chunks = new Chunks(root);
  const bundle = await rolldown({
    cwd: root,
    input: { flint: "packages/server/src/bin/flint.ts", index: "packages/server/src/index.ts" },
    platform: "node",
    resolve: { conditionNames: ["@flint/source", "import", "node", "default"] },
    plugins: [chunks.plugin, ownZod],
    preserveEntrySignatures: "allow-extension",
    // A module that is loaded lazily in one place and at once in another is meant to be.
    checks: { ineffectiveDynamicImport: false },
  });
  // Names and lines stay as they are, so that a stack trace in a bug report can be read.
  await bundle.write({
    dir,
    format: "esm",
    sourcemap: true,
    comments: { legal: true, annotation: true, jsdoc: false },
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting: { includeDependenciesRecursively: false, groups: chunks.groups },
  });
  await bundle.close();
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
const libraries = packages.filter((name) => name !== "server" && name !== "testkit");
const built = await Promise.allSettled([
  replaceDist("server", buildCommand),
  ...libraries.map((name) => replaceDist(name, (outdir) => buildLibrary(name, outdir))),
]);
for (const { reason } of built) {
  if (reason === undefined) continue;
  process.stderr.write(`${reason.message}\n`);
  process.exitCode = 1;
}
