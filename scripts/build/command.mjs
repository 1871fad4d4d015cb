import { rolldown } from "rolldown";
import { Chunks } from "./chunks.mjs";

/** V8 reads a file of ASCII in a third of the time and keeps it in half the space. docs/why/decisions/0007-start-up.md */
const ASCII = {
  name: "ascii",
  generateBundle: (_options, files) => {
    for (const file of Object.values(files))
      if (file.type === "chunk") file.code = escapeBeyondAscii(file.code);
  },
};

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
    plugins: [...plugins, ASCII],
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

/** A character of code as an escape means the same in strings, templates and patterns; String.raw must stay ASCII. */
function escapeBeyondAscii(code) {
  return code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
