import type { ConfigName, ConfigValue } from "./keys.ts";

/** The values of one or several configuration files, each checked. */
export class ConfigValues {
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(values: ReadonlyMap<string, unknown> = new Map()) {
    this.#values = values;
  }

  /** The value of a key; `named` stands for the `*` in it. */
  get<Name extends ConfigName>(name: Name, named = ""): ConfigValue<Name> | undefined {
    const value = this.#values.get(name.replace("*", () => named));
    // Every value was checked against the schema of its row when it came in.
    return value as ConfigValue<Name> | undefined;
  }

  /** The names that the user chose below a family, such as those of the MCP servers. */
  names(family: "agents" | "mcp_servers" | "providers"): readonly string[] {
    const keys = [...this.#values.keys()].filter((key) => key.startsWith(`${family}.`));
    return [...new Set(keys.map((key) => key.slice(family.length + 1, key.lastIndexOf("."))))];
  }

  /** Every key that is set, with its value. */
  entries(): readonly (readonly [string, unknown])[] {
    return [...this.#values];
  }
}
