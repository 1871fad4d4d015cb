import { builtinModules } from "node:module";
import { posix } from "node:path";
import { type Import, readModule } from "./imports.ts";

/** The target of an import. */
export type Target =
  | { kind: "file"; path: string }
  | { kind: "builtin"; name: string }
  | { kind: "external"; name: string }
  | { kind: "data" }
  | { kind: "nowhere" };

/** An import together with where it leads. */
export type Edge = Import & { target: Target };

/** One source file: where it is, what it imports, which files it names, where it reads the environment and the time. */
export type Module = {
  path: string;
  edges: Edge[];
  mentions: string[];
  environment: number[];
  clock: number[];
};

/** The facts about imports in a package's package.json. */
export type PackageFacts = {
  /** Specifier, such as `@flint/core/ports`, to source file. */
  exports: Readonly<Record<string, string>>;
  dependencies: readonly string[];
};

/** The source files of a workspace and how they hang together. */
export type Graph = { modules: Module[]; packages: Readonly<Record<string, PackageFacts>> };

/** Builds the graph from texts already read: path from the root to source. */
export function buildGraph(
  sources: ReadonlyMap<string, string>,
  packages: Readonly<Record<string, PackageFacts>>,
): Graph {
  const entryPoints = new Map(Object.values(packages).flatMap((facts) => Object.entries(facts.exports)));
  const modules = [...sources].map(([path, source]) => {
    const { imports, mentions, environment, clock } = readModule(source);
    const edges = imports.map((each) => ({
      ...each,
      target: resolve(path, each.specifier, sources, entryPoints),
    }));
    const named = mentions.map((mention) => posix.join(posix.dirname(path), mention));
    return { path, edges, mentions: named.filter((file) => sources.has(file)), environment, clock };
  });
  return { modules, packages };
}

/** The package a path is in, or undefined for files outside `packages/`. */
export function packageOf(path: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(path)?.[1];
}

/** Reports whether a path is a test, or something that only tests use. */
export function isTest(path: string): boolean {
  return /\.test\.tsx?$/.test(path) || /\/src\/.*\b(?:testing|fixtures)\//.test(path);
}

function resolve(
  from: string,
  specifier: string,
  sources: ReadonlyMap<string, string>,
  entryPoints: ReadonlyMap<string, string>,
): Target {
  if (specifier.startsWith(".") && specifier.endsWith(".json")) return { kind: "data" };
  if (specifier.startsWith(".")) {
    const path = posix.join(posix.dirname(from), specifier);
    return sources.has(path) ? { kind: "file", path } : { kind: "nowhere" };
  }
  if (specifier.startsWith("@flint/")) {
    const path = entryPoints.get(specifier);
    return path !== undefined && sources.has(path) ? { kind: "file", path } : { kind: "nowhere" };
  }
  const name = specifier.replace(/^node:/, "");
  if (specifier.startsWith("node:") || builtinModules.includes(name)) return { kind: "builtin", name };
  return specifier === "(computed)"
    ? { kind: "nowhere" }
    : { kind: "external", name: packageName(specifier) };
}

function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
