import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { packageNames, readSources } from "../source/files.ts";
import { buildGraph, type Graph, type PackageFacts } from "./graph.ts";

/** The folders whose files may use the packages and keep them from being orphans. */
const USERS = ["test", "scripts", "bench", "examples"];

/** Reads the sources and package.json files of a workspace. */
export function readWorkspace(root: string): Graph {
  const packages = packageNames(root);
  const facts = packages.map((name) => [name, readFacts(root, name)] as const);
  const sources = [...packages.map((name) => `packages/${name}`), ...USERS].flatMap((folder) => [
    ...readSources(root, folder),
  ]);
  return buildGraph(new Map(sources), Object.fromEntries(facts));
}

function readFacts(root: string, name: string): PackageFacts {
  const text = readFileSync(join(root, "packages", name, "package.json"), "utf8");
  // Our own package.json files; a wrong shape would show as an import that leads to no file.
  const manifest = JSON.parse(text) as {
    exports?: Record<string, string | { "@flint/source"?: string }>;
    private?: boolean;
    dependencies?: Record<string, string>;
    devDependencies?: Record<string, string>;
  };
  const exports = Object.entries(manifest.exports ?? {}).flatMap(([entry, conditions]) => {
    const source = typeof conditions === "string" ? undefined : conditions["@flint/source"];
    return source === undefined
      ? []
      : [[posix.join("@flint", name, entry), posix.join("packages", name, source)]];
  });
  // What a published package bundles is among its development dependencies.
  const bundled = manifest.private === true ? {} : manifest.devDependencies;
  const dependencies = Object.keys({ ...manifest.dependencies, ...bundled });
  return { exports: Object.fromEntries(exports), dependencies };
}
