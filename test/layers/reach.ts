import { isTest, type Module, packageOf } from "./graph.ts";
import type { Rule } from "./rules.ts";

/** No file imports itself by way of others; types count too. */
export const cycles: Rule = (graph) => {
  const byPath = new Map(graph.modules.map((module) => [module.path, module]));
  const finished = new Set<string>();
  const found: string[] = [];
  const visit = (module: Module, trail: readonly string[]): void => {
    const start = trail.indexOf(module.path);
    if (start !== -1) found.push([...trail.slice(start), module.path].join(" -> "));
    if (start !== -1 || finished.has(module.path)) return;
    for (const next of importsOf(module, byPath)) visit(next, [...trail, module.path]);
    finished.add(module.path);
  };
  for (const module of graph.modules) visit(module, []);
  return found;
};

/** Every source file is used: reached from a package's exports, a command, a test or a script. */
export const orphans: Rule = (graph) => {
  const byPath = new Map(graph.modules.map((module) => [module.path, module]));
  const entryPoints = new Set(Object.values(graph.packages).flatMap((facts) => Object.values(facts.exports)));
  const waiting = graph.modules.filter(({ path }) => entryPoints.has(path) || isProgram(path));
  const reached = new Set(waiting.map((module) => module.path));
  for (let module = waiting.pop(); module !== undefined; module = waiting.pop()) {
    const named = module.mentions.flatMap((path) => byPath.get(path) ?? []);
    for (const next of [...importsOf(module, byPath), ...named]) {
      if (reached.has(next.path)) continue;
      reached.add(next.path);
      waiting.push(next);
    }
  }
  return graph.modules
    .filter(({ path }) => !reached.has(path))
    .map(({ path }) => `${path} is used by nothing`);
};

function isProgram(path: string): boolean {
  return (
    packageOf(path) === undefined || isTest(path) || /^packages\/[^/]+\/src\/(?:bin\/|main\.ts$)/.test(path)
  );
}

function importsOf(module: Module, byPath: ReadonlyMap<string, Module>): Module[] {
  return module.edges.flatMap(({ target }) =>
    target.kind === "file" ? (byPath.get(target.path) ?? []) : [],
  );
}
