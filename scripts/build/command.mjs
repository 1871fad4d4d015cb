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
    // A module that is loaded lazily in one place and at once in another is meant to be.
    checks: { ineffectiveDynamicImport: false },
  });
  // Names and lines stay as they are, so that a stack trace in a bug report can be read.
  await bundle.write({
    dir,
    // Not ES modules: Node takes longer to load those, and can be given compiled code only for CommonJS.
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
