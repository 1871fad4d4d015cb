// Makes what runs: the `flint` command as one bundle with lazy chunks, and each package as one module.
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { build } from "esbuild";

const root = new URL("../", import.meta.url);

// zod brings its messages in fifty languages, and every start would read them all; ours are in English.
const englishOnly = {
  name: "english-only",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
      resolveDir: new URL("node_modules/zod/v4/locales/", root).pathname,
    }));
  },
};
const shared = {
  absWorkingDir: root.pathname,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  conditions: ["@flint/source"],
  sourcemap: "linked",
  plugins: [englishOnly],
  logLevel: "error",
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
  // Names stay whole and lines stay short, so that a stack trace in a bug report can be read.
  minifySyntax: true,
};

// A build that fails, or runs while the command is in use, leaves the last good one in place.
async function replaceDist(name, options) {
  const dist = new URL(`packages/${name}/dist`, root);
  const next = new URL(`packages/${name}/dist.${process.pid}`, root);
  try {
    await build({ ...shared, ...options, outdir: `packages/${name}/dist.${process.pid}` });
    await rm(dist, { recursive: true, force: true });
    await rename(next, dist);
  } finally {
    await rm(next, { recursive: true, force: true });
  }
}

function buildCommand() {
  const entryPoints = { flint: "packages/server/src/bin/flint.ts", index: "packages/server/src/index.ts" };
  return replaceDist("server", { entryPoints });
}

async function buildLibrary(name) {
  const manifest = JSON.parse(await readFile(new URL(`packages/${name}/package.json`, root), "utf8"));
  const sources = Object.values(manifest.exports).map((entry) => entry["@flint/source"]);
  const entryPoints = sources.map((source) => `packages/${name}/${source}`);
  await replaceDist(name, { entryPoints, outbase: `packages/${name}/src`, packages: "external" });
}

const packages = await readdir(new URL("packages/", root));
const libraries = packages.filter((name) => name !== "server" && name !== "testkit");
await Promise.all([buildCommand(), ...libraries.map(buildLibrary)]);
