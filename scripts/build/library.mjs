import { readFile } from "node:fs/promises";
import { rolldown } from "rolldown";

const CONDITIONS = {
  node: ["@flint/source", "import", "node", "default"],
  browser: ["@flint/source", "import", "browser", "default"],
};

/** Bundles sources into ES modules with lazy chunks. What `external` says is left to be imported. */
export async function bundleModules(
  root,
  input,
  dir,
  { platform = "node", external = () => false, extension = ".js" } = {},
) {
  const bundle = await rolldown({
    cwd: root,
    input,
    platform,
    external,
    resolve: { conditionNames: CONDITIONS[platform] },
    // A module that is loaded lazily in one place and at once in another is meant to be.
    checks: { ineffectiveDynamicImport: false },
  });
  await bundle.write({
    dir,
    format: "esm",
    sourcemap: true,
    entryFileNames: `[name]${extension}`,
    chunkFileNames: `chunks/[name]-[hash]${extension}`,
  });
  await bundle.close();
}

/**
 * Bundles a package that is published: each export is a module. Its dependencies are imported, its development
 * dependencies are part of it; the export `./browser` is made for browsers.
 */
export async function bundleLibrary(root, name, dir) {
  const manifest = JSON.parse(await readFile(`${root}packages/${name}/package.json`, "utf8"));
  const imported = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const external = (id) => imported.some((each) => id === each || id.startsWith(`${each}/`));
  const modules = Object.entries(manifest.exports).filter(
    ([, entry]) => entry["@flint/source"] !== undefined,
  );
  const inputs = { node: {}, browser: {} };
  for (const [door, entry] of modules) {
    const source = entry["@flint/source"];
    const output = entry.default.replace(/^\.\/dist\/(.*)\.js$/, "$1");
    inputs[door === "./browser" ? "browser" : "node"][output] = `./packages/${name}/${source}`;
  }
  for (const [platform, input] of Object.entries(inputs)) {
    if (Object.keys(input).length > 0) await bundleModules(root, input, dir, { platform, external });
  }
}
