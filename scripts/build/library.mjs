import { readFile } from "node:fs/promises";
import { rolldown } from "rolldown";

const CONDITIONS = {
  node: ["@flint/source", "import", "node", "default"],
  browser: ["@flint/source", "import", "browser", "default"],
};

/** Bundles sources into ES modules with lazy chunks. Modules that `external` selects stay imports. */
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
    // A module may be imported lazily in one module and statically in another on purpose.
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
 * Bundles a published package: each export is a module. Its dependencies stay imports, its development dependencies are
 * bundled; the export `./browser` is built for browsers.
 */
export async function bundleLibrary(root, name, dir) {
  const manifest = JSON.parse(await readFile(`${root}packages/${name}/package.json`, "utf8"));
  const imported = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const external = (id) => imported.some((each) => id === each || id.startsWith(`${each}/`));
  const modules = Object.entries(manifest.exports).filter(
    ([, entry]) => entry["@flint/source"] !== undefined,
  );
  const inputs = { node: {}, browser: {} };
  for (const [subpath, entry] of modules) {
    const source = entry["@flint/source"];
    const output = entry.default.replace(/^\.\/dist\/(.*)\.js$/, "$1");
    inputs[subpath === "./browser" ? "browser" : "node"][output] = `./packages/${name}/${source}`;
  }
  for (const [platform, input] of Object.entries(inputs)) {
    if (Object.keys(input).length > 0) await bundleModules(root, input, dir, { platform, external });
  }
}
