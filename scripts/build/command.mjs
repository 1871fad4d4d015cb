import { rolldown } from "rolldown";
import { Chunks } from "./chunks.mjs";

/** Bundles the `flint` command into a few files with lazy chunks, and the first frame of a session into one file. */
export async function bundleCommand(root, dir) {
  const chunks = new Chunks(root);
  await bundle(root, { flint: "packages/cli/src/main.ts" }, [chunks.plugin], {
    dir,
    codeSplitting: { includeDependenciesRecursively: false, groups: chunks.groups },
  });
  // It has copies of what it shares with the rest, so that nothing else is loaded before it is drawn.
  await bundle(root, { "first-frame": "packages/cli/src/first-frame.ts" }, [], { dir });
}

async function bundle(cwd, input, plugins, output) {
  const built = await rolldown({
    cwd,
    input,
    platform: "node",
    resolve: { conditionNames: ["@flint/source", "import", "node", "default"] },
    plugins,
    preserveEntrySignatures: "allow-extension",
    // A module may be imported lazily in one module and statically in another on purpose.
    checks: { ineffectiveDynamicImport: false },
  });
  // Not minified, so that stack traces in bug reports are readable.
  await built.write({
    // Node loads ES modules more slowly, and cannot load compiled code for them.
    format: "cjs",
    dynamicImportInCjs: false,
    sourcemap: true,
    comments: { legal: true, annotation: true, jsdoc: false },
    entryFileNames: "[name].cjs",
    chunkFileNames: "chunks/[name]-[hash].cjs",
    ...output,
  });
  await built.close();
}
