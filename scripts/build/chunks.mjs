// Which modules are bundled into one file because they are loaded together. Each file costs about a millisecond at start,
// and a bundler that splits wherever two commands share a module makes dozens of them.
// docs/why/decisions/0007-start-up.md has the figures.
const START = [
  "packages/frontends/src/flint/frontend.ts",
  "packages/cli/src/main.ts",
  "packages/cli/src/command-line/dispatch.ts",
  "packages/cli/src/commands/serve/serve.ts",
  "packages/server/src/config/agents.ts",
  "packages/server/src/config/server-config.ts",
  "packages/server/src/config/user-config.ts",
];
/**
 * Further modules that a server loads: its lock before it answers, and the parts that its listeners share
 * with a turn.
 */
const CLAIM = [
  "packages/server/src/single-instance/claim.ts",
  "packages/sdk/src/transport/server-location.ts",
  "packages/host/src/sandbox/paths/protected-names.ts",
  "packages/host/src/steering/git-settings.ts",
  "packages/host/src/steering/git-steering.ts",
  "packages/host/src/steering/known-settings.ts",
];
const FIRST_TURN = [
  "packages/cli/src/commands/exec/exec.ts",
  "packages/server/src/embed.ts",
  "packages/server/src/config/workspace-files.ts",
  "packages/host/src/checkpoints/index.ts",
  "packages/host/src/store/index.ts",
  "packages/agent/src/models/listing.ts",
  "packages/agent/src/models/model-cache.ts",
  "packages/offline-model/src/offline-model.ts",
  "packages/drivers/src/native/session.ts",
];
/** Paths of modules that those of a start import but do not use: index files, and what only index files lead to. */
const UNUSED = [
  "packages/protocol/src/harness.ts",
  "packages/protocol/src/index.ts",
  "packages/sdk/src/transport/spawn.ts",
  "packages/tui/src/draw/draw-",
  "packages/tui/src/draw/index.ts",
  "packages/tui/src/draw/markdown.ts",
  "packages/tui/src/draw/plain.ts",
  "packages/tui/src/draw/streamed-markdown.ts",
  "packages/tui/src/draw/table.ts",
  "packages/tui/src/draw/timeline.ts",
  "packages/view/src/markdown/",
  "node_modules/marked/",
  "zod/v4/core/json-schema-processors.js",
  "zod/v4/core/to-json-schema.js",
];

/** Groups the modules of every start, and those that the first turn of Flint's own agent needs in addition. */
export class Chunks {
  #root;
  #imports = new Map();
  #closures = new Map();

  constructor(root) {
    this.#root = root;
  }

  /** Records the imports of each module. */
  get plugin() {
    return {
      name: "chunks",
      moduleParsed: ({ id, importedIds }) => {
        this.#imports.set(id, importedIds);
      },
    };
  }

  get groups() {
    return [
      { name: "start", priority: 3, test: (id) => this.#closure(START).has(id) },
      { name: "claim", priority: 2, test: (id) => this.#closure(CLAIM).has(id) },
      { name: "first-turn", priority: 1, test: (id) => this.#closure(FIRST_TURN).has(id) },
    ];
  }

  /** These modules and all that they import statically. */
  #closure(names) {
    const known = this.#closures.get(names);
    if (known !== undefined) return known;
    const found = new Set();
    const pending = names.map((name) => this.#root + name);
    for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
      if (found.has(id)) continue;
      if (!this.#imports.has(id) && id.startsWith(this.#root) && names.some((name) => id.endsWith(name))) {
        throw new Error(`scripts/build/chunks.mjs names ${id}, which the command does not load`);
      }
      found.add(id);
      pending.push(...(this.#imports.get(id) ?? []));
    }
    for (const id of found) if (UNUSED.some((path) => id.includes(`/${path}`))) found.delete(id);
    this.#closures.set(names, found);
    return found;
  }
}
