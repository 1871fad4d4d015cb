// Which modules lie in one file, because they are loaded together anyway. Every file of its own costs a start a
// millisecond; a bundler that cuts wherever two commands share something makes dozens of them.
const START = [
  "packages/frontends/src/flint/frontend.ts",
  "packages/cli/src/main.ts",
  "packages/cli/src/command-line/dispatch.ts",
  "packages/cli/src/commands/serve/serve.ts",
  "packages/server/src/config/agents.ts",
  "packages/server/src/config/server-config.ts",
  "packages/server/src/config/user-config.ts",
];
const CLAIM = ["packages/server/src/single-instance/claim.ts"];
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
/** What modules of a start name but do not use: lists of all that a package has, and what only such lists lead to. */
const LATER = [
  "packages/protocol/src/harness.ts",
  "packages/protocol/src/index.ts",
  "packages/sdk/src/transport/spawn.ts",
  "zod/v4/core/json-schema-processors.js?own",
  "zod/v4/core/to-json-schema.js?own",
];

/** Puts together what a start needs, and what the first turn of Flint's own agent needs besides. */
export class Chunks {
  #root;
  #imports = new Map();
  #closures = new Map();

  constructor(root) {
    this.#root = root;
  }

  /** Learns who imports what. */
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

  /** All that is loaded with these modules; what they load later is not. */
  #closure(names) {
    const known = this.#closures.get(names);
    if (known !== undefined) return known;
    const found = new Set();
    const open = names.map((name) => this.#root + name);
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (found.has(id)) continue;
      if (!this.#imports.has(id) && id.startsWith(this.#root) && names.some((name) => id.endsWith(name))) {
        throw new Error(`scripts/build/chunks.mjs names ${id}, which the command does not load`);
      }
      found.add(id);
      open.push(...(this.#imports.get(id) ?? []));
    }
    for (const id of found) if (LATER.some((name) => id.endsWith(`/${name}`))) found.delete(id);
    this.#closures.set(names, found);
    return found;
  }
}
