import { describe, expect, test } from "vitest";
import { equalFunctions } from "./equal-functions.ts";
import { buildGraph, type PackageFacts } from "./graph.ts";
import { cycles, orphans } from "./reach.ts";
import * as rules from "./rules.ts";

const flint = (...names: string[]) => names.map((name) => `@flint/${name}`);

const PACKAGES: Record<string, PackageFacts> = {
  protocol: { exports: { "@flint/protocol": "packages/protocol/src/index.ts" }, dependencies: ["zod"] },
  rpc: { exports: { "@flint/rpc": "packages/rpc/src/index.ts" }, dependencies: flint("protocol") },
  core: {
    exports: {
      "@flint/core": "packages/core/src/index.ts",
      "@flint/core/ports": "packages/core/src/ports/index.ts",
      "@flint/core/text": "packages/core/src/text/index.ts",
      "@flint/core/redact": "packages/core/src/redact/index.ts",
    },
    dependencies: flint("protocol"),
  },
  host: {
    exports: {
      "@flint/host/store": "packages/host/src/store/index.ts",
      "@flint/host/globs": "packages/host/src/globs/index.ts",
      "@flint/host/files": "packages/host/src/files/index.ts",
    },
    dependencies: flint("protocol", "core"),
  },
  agent: {
    exports: { "@flint/agent": "packages/agent/src/index.ts" },
    dependencies: flint("protocol", "rpc", "core", "host"),
  },
  "offline-model": {
    exports: { "@flint/offline-model": "packages/offline-model/src/index.ts" },
    dependencies: flint("protocol", "core", "agent"),
  },
  drivers: {
    exports: { "@flint/drivers": "packages/drivers/src/index.ts" },
    dependencies: flint("protocol", "rpc", "core", "host", "agent", "offline-model"),
  },
  frontends: {
    exports: { "@flint/frontends": "packages/frontends/src/index.ts" },
    dependencies: flint("protocol", "core"),
  },
};

const EXPORTED = Object.fromEntries(
  Object.values(PACKAGES).flatMap((facts) => Object.values(facts.exports).map((path) => [path, ""])),
);

/** A small workspace of the files given here and one empty file behind every package export. */
function workspace(files: Record<string, string>) {
  const sources = { ...EXPORTED, ...files };
  return buildGraph(
    new Map(Object.entries(sources).map(([path, source]) => [path.replace("~", "packages"), source])),
    PACKAGES,
  );
}

describe("the layer rule", () => {
  test("lets a package import what is below it", () => {
    const graph = workspace({ "~/drivers/src/a.ts": 'import { x } from "@flint/rpc";' });
    expect(rules.layers(graph)).toEqual([]);
  });

  test.each([
    ['import { x } from "@flint/drivers";', "imports @flint/drivers: core may not import drivers"],
    ['import type { X } from "@flint/rpc";', "imports @flint/rpc: core may not import rpc"],
    ['export * from "@flint/rpc";', "imports @flint/rpc: core may not import rpc"],
    ['const x = await import("@flint/rpc");', "imports @flint/rpc: core may not import rpc"],
    [
      'import "../../rpc/src/index.ts";',
      "imports ../../rpc/src/index.ts: reaches out of its package by path",
    ],
    ['import "../../../test/a.ts";', "imports ../../../test/a.ts: reaches out of its package by path"],
  ])("refuses %s in core", (source, problem) => {
    const graph = workspace({ "~/core/src/a.ts": source, "test/a.ts": "" });
    expect(rules.layers(graph)).toEqual([`packages/core/src/a.ts:1 ${problem}`]);
  });

  test.each([
    ["offline-model", "agent"],
    ["drivers", "agent"],
    ["agent", "core"],
  ])("refuses %s in %s", (to, from) => {
    const graph = workspace({ [`~/${from}/src/a.ts`]: `import "@flint/${to}";` });
    expect(rules.layers(graph)).toEqual([
      `packages/${from}/src/a.ts:1 imports @flint/${to}: ${from} may not import ${to}`,
    ]);
  });

  test("refuses an allowed package that package.json does not declare", () => {
    const graph = workspace({ "~/frontends/src/a.ts": '\nimport "@flint/rpc";' });
    expect(rules.layers(graph)).toEqual([
      "packages/frontends/src/a.ts:2 imports @flint/rpc: is not declared in package.json",
    ]);
  });

  test("lets tests import anything", () => {
    const graph = workspace({ "~/core/src/a.test.ts": 'import "@flint/drivers"; import "left-pad";' });
    expect([...rules.layers(graph), ...rules.externals(graph)]).toEqual([]);
  });
});

describe("the library rule", () => {
  test("lets protocol use zod", () => {
    expect(rules.externals(workspace({ "~/protocol/src/a.ts": 'import { z } from "zod/v4";' }))).toEqual([]);
  });

  test.each([
    ["protocol", "node:fs", "protocol may not use Node modules"],
    ["protocol", "fs/promises", "protocol may not use Node modules"],
    ["protocol", "left-pad", "protocol may use zod only"],
    ["view", "node:buffer", "view may not use Node modules"],
    ["view", "zod", "view may use marked only"],
    ["rpc", "zod", "is not declared in package.json"],
    ["rpc", "@scope/name/deep", "is not declared in package.json"],
  ])("refuses that %s imports %s", (name, specifier, problem) => {
    const graph = workspace({ [`~/${name}/src/a.ts`]: `import x from "${specifier}";` });
    expect(rules.externals(graph)).toEqual([`packages/${name}/src/a.ts:1 imports ${specifier}: ${problem}`]);
  });
});

describe("the ports rule", () => {
  test.each([
    ["drivers", 'import type { Driver } from "@flint/core/ports";'],
    ["drivers", 'import { Glob } from "@flint/host/globs";'],
    ["agent", 'import { readPlainFile } from "@flint/host/files";'],
    ["offline-model", 'import type { Clock } from "@flint/core/ports";'],
    ["host", 'import type { Store } from "@flint/core/ports";'],
    ["frontends", 'import { follow } from "@flint/core/ports";'],
    ["frontends", 'import type { Engine } from "@flint/core";'],
    ["frontends", 'import { shellQuote } from "@flint/core/text";'],
    ["agent", 'import { shellQuote } from "@flint/core/text";'],
    ["host", 'import { Redactor } from "@flint/core/redact";'],
    ["rpc", 'import type { Engine } from "@flint/core";'],
    ["tui", 'import { IgnoreRules } from "@flint/host/globs";'],
  ])("leaves %s alone that has %s", (name, source) => {
    expect(rules.corePorts(workspace({ [`~/${name}/src/a.ts`]: source }))).toEqual([]);
  });

  test.each([
    ["host", 'import { Engine } from "@flint/core";'],
    ["agent", 'import { Redactor } from "@flint/core/redact";'],
    ["frontends", 'import { Redactor } from "@flint/core/redact";'],
    ["drivers", 'import type { Engine } from "@flint/core";'],
    ["agent", 'import type { Engine } from "@flint/core";'],
    ["agent", 'import { open } from "@flint/host/store";'],
    ["offline-model", 'import type { Engine } from "@flint/core";'],
    ["drivers", 'import { open } from "@flint/host/store";'],
    ["drivers", 'import type { Store } from "@flint/host/store";'],
    ["drivers", 'const { open } = await import("@flint/host/store");'],
    ["drivers", 'import { Glob } from "@flint/host/globs/glob";'],
    ["frontends", 'import { Glob } from "@flint/host/globs";'],
    ["frontends", 'import { Engine } from "@flint/core";'],
    ["frontends", 'import type { Store } from "@flint/host/store";'],
    ["tui", 'import type { Engine } from "@flint/core";'],
    ["tui", 'import { open } from "@flint/host/store";'],
  ])("refuses that %s has %s", (name, source) => {
    expect(rules.corePorts(workspace({ [`~/${name}/src/a.ts`]: source }))).toHaveLength(1);
  });
});

describe("the island rule", () => {
  const folders = {
    "~/drivers/src/b/b.ts": "",
    "~/drivers/src/shared/s.ts": "",
    "~/frontends/src/b/b.ts": "",
    "~/frontends/src/shared/s.ts": "",
  };

  test.each([
    ["~/drivers/src/a/a.ts", "../shared/s.ts"],
    ["~/drivers/src/all.ts", "./b/b.ts"],
    ["~/drivers/src/b/c.ts", "./b.ts"],
    ["~/frontends/src/a/a.ts", "../shared/s.ts"],
    ["~/frontends/src/b/rooms/c.ts", "../b.ts"],
    ["~/frontends/src/index.ts", "./shared/s.ts"],
  ])("lets %s import %s", (path, specifier) => {
    expect(rules.islands(workspace({ ...folders, [path]: `import "${specifier}";` }))).toEqual([]);
  });

  test.each([
    ["~/drivers/src/a/a.ts", "../b/b.ts", "a may not import b"],
    ["~/drivers/src/shared/a.ts", "../b/b.ts", "shared may not import b"],
    ["~/drivers/src/a/a.ts", "../index.ts", "a may not import the index of drivers"],
    ["~/frontends/src/a/a.ts", "../b/b.ts", "a may not import b"],
    ["~/frontends/src/a/rooms/a.ts", "../../b/b.ts", "a may not import b"],
    ["~/frontends/src/shared/a.ts", "../b/b.ts", "shared may not import b"],
    ["~/frontends/src/a/a.ts", "../index.ts", "a may not import the index of frontends"],
  ])("refuses that %s imports %s", (path, specifier, problem) => {
    const graph = workspace({ ...folders, [path]: `import "${specifier}";` });
    expect(rules.islands(graph)).toEqual([
      `${path.replace("~", "packages")}:1 imports ${specifier}: ${problem}`,
    ]);
  });
});

describe("the process and environment rules", () => {
  const SPAWN = 'import { spawn } from "node:child_process";';

  test.each([
    "~/host/src/sandbox/mechanisms/bubblewrap.ts",
    "~/sdk/src/transport/spawn.ts",
    "~/testkit/src/fake.ts",
    "~/rpc/src/a.test.ts",
  ])("let %s start processes", (path) => {
    expect(rules.processes(workspace({ [path]: SPAWN }))).toEqual([]);
  });

  test.each([
    "~/core/src/engine.ts",
    "~/drivers/src/a/a.ts",
    "~/sdk/src/client.ts",
    "~/server/src/config/environment.ts",
  ])("refuse that %s starts processes", (path) => {
    expect(rules.processes(workspace({ [path]: SPAWN }))).toHaveLength(1);
    expect(rules.processes(workspace({ [path]: 'await import("child_process")' }))).toHaveLength(1);
  });

  test.each([
    "process.env.A",
    "process?.env",
    'process["env"]',
    "`$" + "{process.env.A}`",
    'import { argv, env } from "node:process";',
  ])("refuse %s outside the configuration", (source) => {
    expect(rules.environment(workspace({ "~/core/src/a.ts": source }))).toEqual([
      "packages/core/src/a.ts:1 reads the environment",
    ]);
    expect(rules.environment(workspace({ "~/server/src/config/environment.ts": source }))).toEqual([]);
  });

  test("take no comment, string or other env for the environment", () => {
    const source = '// process.env\nconst a = "process.env"; options.env; const b = { env: 1 };';
    expect(rules.environment(workspace({ "~/core/src/a.ts": source }))).toEqual([]);
  });
});

describe("the clock rule", () => {
  test.each(["Date.now()", "performance.now()", "new Date()", "setTimeout(f, 5)", "setInterval(f, 5)"])(
    "refuses %s in the core and the front ends, not where the clock is made",
    (source) => {
      const broken = (path: string) => rules.clock(workspace({ [path]: source }));
      expect(broken("~/frontends/src/a/b.ts")).toEqual([
        "packages/frontends/src/a/b.ts:1 does not use the injected clock",
      ]);
      expect(broken("~/core/src/a.ts")).toHaveLength(1);
      expect(["~/core/src/ports/clock.ts", "~/core/src/a.test.ts", "~/cli/src/a.ts"].flatMap(broken)).toEqual(
        [],
      );
    },
  );

  test("takes no given time and no injected clock for one of its own", () => {
    const source = "// Date.now()\nclock.now(); new Date(at); clock.after(5, f); const setTimeout = 1;";
    expect(rules.clock(workspace({ "~/core/src/a.ts": source }))).toEqual([]);
  });
});

describe("the existence rules", () => {
  test.each(["./gone.ts", "./a", "@flint/core/engine", "@flint/gone"])(
    "refuse an import of %s, in tests too",
    (specifier) => {
      const source = `import "${specifier}";`;
      const graph = workspace({ "~/core/src/a.ts": source, "~/core/src/b.test.ts": source });
      expect(rules.existence(graph)).toHaveLength(2);
    },
  );

  test("refuse a dynamic import whose target cannot be read", () => {
    const graph = workspace({ "~/core/src/a.ts": "await import(name); await import('./' + name);" });
    expect(rules.existence(graph)).toHaveLength(2);
  });

  test("refuse that a source file uses a test", () => {
    const graph = workspace({ "~/core/src/a.ts": 'import "./b.test.ts";', "~/core/src/b.test.ts": "" });
    expect(rules.noTestsInside(graph)).toHaveLength(1);
  });

  test.each(["testing/fake.ts", "fixtures/program.mjs"])("refuse that a source file uses %s", (path) => {
    const graph = workspace({ "~/core/src/a.ts": `import "./${path}";`, [`~/core/src/${path}`]: "" });
    expect(rules.noTestsInside(graph)).toHaveLength(1);
  });

  test("see no import in a comment, a string or a local export", () => {
    const source =
      '// import "./x.ts"\nconst a = \'import "./x.ts"\'; export { a }; export type B = import.meta;';
    expect(rules.existence(workspace({ "~/core/src/a.ts": source }))).toEqual([]);
  });
});

describe("the reach rules", () => {
  test("refuse a cycle, also one of types only", () => {
    const graph = workspace({
      "~/core/src/a.ts": 'import type { B } from "./b.ts";',
      "~/core/src/b.ts": 'export { c } from "./c.ts";',
      "~/core/src/c.ts": 'export const a = () => import("./a.ts");',
    });
    expect(cycles(graph)).toEqual([
      "packages/core/src/a.ts -> packages/core/src/b.ts -> packages/core/src/c.ts -> packages/core/src/a.ts",
    ]);
  });

  test("see no cycle where two ways lead to one file", () => {
    const graph = workspace({
      "~/core/src/a.ts": 'import "./b.ts"; import "./c.ts";',
      "~/core/src/b.ts": 'import "./c.ts";',
      "~/core/src/c.ts": "",
    });
    expect(cycles(graph)).toEqual([]);
  });

  test("refuse a file that nothing uses, and files that only it uses", () => {
    const graph = workspace({ "~/core/src/a.ts": 'import "./b.ts";', "~/core/src/b.ts": "" });
    expect(orphans(graph)).toEqual([
      "packages/core/src/a.ts is used by nothing",
      "packages/core/src/b.ts is used by nothing",
    ]);
  });

  test("count what a package exports, a command, a test or a program started by path uses", () => {
    const graph = workspace({
      "~/core/src/index.ts": 'import "./a.ts";',
      "~/core/src/a.ts": "",
      "~/core/src/bin/start.ts": 'const child = new URL("../child.ts", import.meta.url);',
      "~/core/src/child.ts": "",
      "~/core/src/c.test.ts": 'import "./c.ts";',
      "~/core/src/c.ts": "",
    });
    expect(orphans(graph)).toEqual([]);
  });
});

describe("functions with one body in several files", () => {
  const one = `/** One line. */
export function oneLine(text: string): string {
  return escapeControls(text).replaceAll("\\n", " ");
}
`;
  const other = `function flat(text: string): string {
  // On one line.
  return escapeControls(text)
    .replaceAll("\\n", " ");
}
`;

  test("are found whatever they are called, and however they are written", () => {
    const sources = new Map([
      ["a.ts", one],
      ["b.ts", other],
      ["c.ts", one.replace('" "', '""')],
    ]);
    expect(equalFunctions(sources)).toEqual([{ name: "oneLine", paths: ["a.ts", "b.ts"] }]);
  });

  test("may be that short that they say nothing", () => {
    const short = "function id(a: string) {\n  return a;\n}\n";
    expect(
      equalFunctions(
        new Map([
          ["a.ts", short],
          ["b.ts", short],
        ]),
      ),
    ).toEqual([]);
  });
});
