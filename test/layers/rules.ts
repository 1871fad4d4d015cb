import { type Edge, type Graph, isTest, type Module, packageOf } from "./graph.ts";

/** Everything that a server is put together from. */
const BELOW_SERVER = [
  "protocol",
  "rpc",
  "core",
  "host",
  "agent",
  "offline-model",
  "drivers",
  "frontends",
  "sdk",
  "tasks",
  "view",
];

/** The packages that a package may import. A package that is not listed may not exist. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  rpc: ["protocol"],
  core: ["protocol"],
  host: ["protocol", "core"],
  agent: ["protocol", "rpc", "core", "host"],
  "offline-model": ["protocol", "core", "agent"],
  drivers: ["protocol", "rpc", "core", "host", "agent", "offline-model"],
  frontends: ["protocol", "rpc", "core"],
  view: ["protocol"],
  sdk: ["protocol", "rpc", "view"],
  tasks: ["protocol", "host", "sdk", "view"],
  tui: ["protocol", "core", "host", "sdk", "view"],
  server: BELOW_SERVER,
  cli: [...BELOW_SERVER, "server", "tui", "conformance"],
  conformance: ["protocol", "rpc", "sdk", "offline-model", "view", "server"],
  testkit: ["protocol", "rpc", "core", "host", "sdk", "conformance"],
};

/**
 * The parts of core and host that agents and their drivers may use: the ports they implement, and what they
 * share.
 */
const FOR_AGENTS = [
  "@flint/core/ports",
  "@flint/core/denials",
  "@flint/core/elicitation",
  "@flint/core/text",
  "@flint/host/addresses",
  "@flint/host/globs",
  "@flint/host/files",
  "@flint/host/folder-identity",
  "@flint/host/protected-names",
];
const AGENT_PACKAGES = ["agent", "offline-model", "drivers"];

/** The only places that may start a process. */
const STARTS_PROCESSES = [
  /^packages\/host\/src\/(?:git|network|sandbox)\//,
  /^packages\/sdk\/src\/transport\/spawn\.ts$/,
  // An agent's own login, in the terminal of the user who asked for it.
  /^packages\/cli\/src\/commands\/serve\/acp\.ts$/,
  // The user's editor, which has the terminal meanwhile, and what reads an image from the clipboard.
  /^packages\/tui\/src\/input\/(?:attach\/clipboard-image|editor-program\/external-editor)\.ts$/,
  // The desktop's viewer, for an image that the user opens with a key.
  /^packages\/cli\/src\/commands\/session\/open-file\.ts$/,
  /^packages\/testkit\//,
];

/** The only places that may read the environment. */
const READS_ENVIRONMENT = [/^packages\/server\/src\/config\/environment\.ts$/, /^packages\/testkit\//];

/** Packages that take the time from the clock that they are given, so that tests can move it. */
const HAS_INJECTED_CLOCK = ["core", "frontends"];

/** The machine's own clock, which implements the port. */
const IS_CLOCK = /^packages\/core\/src\/ports\/clock\.ts$/;

/** One rule: it looks at a graph and says in sentences where the graph breaks it. */
export type Rule = (graph: Graph) => string[];

/** Packages import only packages below them, by name, and declare that they do. */
export const layers: Rule = (graph) =>
  eachEdge(graph, (module, edge) => {
    if (edge.target.kind !== "file") return undefined;
    const from = packageOf(module.path);
    const to = packageOf(edge.target.path);
    if (from === undefined || from === to) return undefined;
    if (to === undefined || edge.specifier.startsWith(".")) return "reaches out of its package by path";
    if (!MAY_IMPORT[from]?.includes(to)) return `${from} may not import ${to}`;
    return graph.packages[from]?.dependencies.includes(`@flint/${to}`)
      ? undefined
      : "is not declared in package.json";
  });

/**
 * The dependencies that packages which also run in a browser may use besides other packages; Node modules are
 * not among them.
 */
const RUNS_ANYWHERE: Readonly<Record<string, readonly string[]>> = { protocol: ["zod"], view: ["marked"] };

/** Packages that run anywhere use no Node modules and only the libraries listed. Every package declares what it uses. */
export const externals: Rule = (graph) =>
  eachEdge(graph, (module, edge) => {
    const from = packageOf(module.path) ?? "";
    const allowed = RUNS_ANYWHERE[from];
    if (allowed !== undefined && edge.target.kind === "builtin") return `${from} may not use Node modules`;
    if (edge.target.kind !== "external") return undefined;
    if (allowed !== undefined && !allowed.includes(edge.target.name))
      return `${from} may use ${allowed.length === 0 ? "no library" : `${allowed.join(", ")} only`}`;
    const declared = graph.packages[from]?.dependencies.includes(edge.target.name);
    return declared ? undefined : "is not declared in package.json";
  });

/**
 * The parts of core that host may use: the ports it implements and the small parts it shares with the engine.
 */
const FOR_HOST = ["@flint/core/async", "@flint/core/ports", "@flint/core/redact", "@flint/core/text"];

/** The parts of core that front ends may use, beside its types. */
const FOR_FRONTENDS = ["@flint/core/ports", "@flint/core/text"];

/**
 * The parts of core and host that the terminal session may use: the clock, and what it needs to complete the
 * names of files.
 */
const FOR_TUI = ["@flint/core/ports", "@flint/host/files", "@flint/host/globs", "@flint/host/private-file"];

/**
 * The agent, the offline model and the drivers see the ports of core, and path patterns and files of host; host sees the
 * ports; front ends see the ports and the engine's types; the terminal session sees the ports, path patterns and files.
 */
export const corePorts: Rule = (graph) =>
  eachEdge(graph, (module, edge) => {
    const from = packageOf(module.path);
    if (!/^@flint\/(?:core|host)(?:\/|$)/.test(edge.specifier)) return undefined;
    if (from === "host" && !FOR_HOST.includes(edge.specifier))
      return `host may use ${FOR_HOST.join(", ")} only`;
    if (from !== undefined && AGENT_PACKAGES.includes(from)) {
      return FOR_AGENTS.includes(edge.specifier)
        ? undefined
        : `${from} may use ${FOR_AGENTS.join(", ")} only`;
    }
    if (from === "tui" && !FOR_TUI.includes(edge.specifier)) return `tui may use ${FOR_TUI.join(", ")} only`;
    if (from !== "frontends" || FOR_FRONTENDS.includes(edge.specifier)) return undefined;
    if (edge.specifier === "@flint/core" && edge.typeOnly) return undefined;
    return `frontends may use ${FOR_FRONTENDS.join(", ")} and types of @flint/core only`;
  });

/** No driver imports another driver and no front end another front end; what they share is in `shared`. */
export const islands: Rule = (graph) =>
  eachEdge(graph, (module, edge) => {
    if (edge.target.kind !== "file") return undefined;
    const from = islandOf(module.path);
    const to = islandOf(edge.target.path);
    if (from === undefined || to === undefined || from.package !== to.package) return undefined;
    if (from.folder === undefined || from.folder === to.folder) return undefined;
    if (to.folder === "shared") return undefined;
    return `${from.folder} may not import ${to.folder ?? `the index of ${from.package}`}`;
  });

/** Processes are started in named places only. */
export const processes: Rule = (graph) =>
  eachEdge(graph, (module, edge) => {
    if (edge.target.kind !== "builtin" || edge.target.name !== "child_process") return undefined;
    return STARTS_PROCESSES.some((place) => place.test(module.path)) ? undefined : "may not start processes";
  });

/** The environment is read in one place only. */
export const environment: Rule = (graph) =>
  sourceModules(graph)
    .filter((module) => !READS_ENVIRONMENT.some((place) => place.test(module.path)))
    .flatMap((module) => module.environment.map((line) => `${module.path}:${line} reads the environment`));

/** The core and the front ends take the time from the injected clock. */
export const clock: Rule = (graph) =>
  sourceModules(graph)
    .filter(({ path }) => HAS_INJECTED_CLOCK.includes(packageOf(path) ?? "") && !IS_CLOCK.test(path))
    .flatMap((module) =>
      module.clock.map((line) => `${module.path}:${line} does not use the injected clock`),
    );

/** Every import leads to a file that exists, and to one that can be known by reading. Tests included. */
export const existence: Rule = (graph) =>
  graph.modules.flatMap((module) =>
    module.edges
      .filter(
        (edge) => edge.target.kind === "nowhere" && !(isTest(module.path) && edge.specifier === "(computed)"),
      )
      .map((edge) => describeEdge(module, edge, "leads to no file")),
  );

/** No source file uses a test. */
export const noTestsInside: Rule = (graph) =>
  eachEdge(graph, (_, edge) =>
    edge.target.kind === "file" && isTest(edge.target.path) ? "is a test" : undefined,
  );

function islandOf(path: string): { package: string; folder: string | undefined } | undefined {
  const match = /^packages\/(drivers|frontends)\/src\/(?:([^/]+)\/)?/.exec(path);
  return match?.[1] === undefined ? undefined : { package: match[1], folder: match[2] };
}

function sourceModules(graph: Graph): Module[] {
  return graph.modules.filter((module) => packageOf(module.path) !== undefined && !isTest(module.path));
}

function eachEdge(graph: Graph, judge: (module: Module, edge: Edge) => string | undefined): string[] {
  return sourceModules(graph).flatMap((module) =>
    module.edges.flatMap((edge) => {
      const problem = judge(module, edge);
      return problem === undefined ? [] : [describeEdge(module, edge, problem)];
    }),
  );
}

function describeEdge(module: Module, edge: Edge, problem: string): string {
  return `${module.path}:${edge.line} imports ${edge.specifier}: ${problem}`;
}
