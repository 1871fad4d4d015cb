import { rolldown } from "rolldown";
import { Chunks } from "./chunks.mjs";

/** Bundles the `flint` command into a few files with lazy chunks. */
export async function bundleCommand(root, dir) {
  const chunks = new Chunks(root);
  const bundle = await rolldown({
    cwd: root,
    input: { flint: "packages/cli/src/main.ts" },
    platform: "node",
    resolve: { conditionNames: ["@flint/source", "import", "node", "default"] },
    plugins: [chunks.plugin],
    preserveEntrySignatures: "allow-extension",
    // A module may be imported lazily in one module and statically in another on purpose.
    checks: { ineffectiveDynamicImport: false },
  });
  // Not minified, so that stack traces in bug reports are readable.
  await bundle.write({
    dir,
    // Node loads ES modules more slowly, and cannot load compiled code for them.
    format: "cjs",
    dynamicImportInCjs: false,
    sourcemap: true,
    comments: { legal: true, annotation: true, jsdoc: false },
    entryFileNames: "[name].cjs",
    chunkFileNames: "chunks/[name]-[hash].cjs",
    codeSplitting: { includeDependenciesRecursively: false, groups: chunks.groups },
  });
  await bundle.close();
}
