import { KNOWN_AGENTS } from "@flint/drivers";
import { isRecord } from "@flint/protocol";
import { nearest } from "@flint/view/commands";
import { CONFIG_KEYS, type ConfigName, type ConfigValue, namesBelow, rowNameOf } from "./keys/table.ts";

/** An invalid configuration: one line for each problem. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** The owner of a configuration file. A project cannot set every key. */
export type ConfigLevel = "user" | "project";

/** Parses a configuration file. Throws a ConfigError that names file, line and key, and what to write instead. */
export async function parseConfig(text: string, path: string, level: ConfigLevel): Promise<ConfigValues> {
  return checked(await parseDocument(text, path), text, path, level);
}

/** Parses TOML without checking keys or values. Throws a ConfigError that names file and line. */
export async function parseDocument(text: string, path: string): Promise<Record<string, unknown>> {
  const { parse, TomlError } = await import("smol-toml");
  try {
    return parse(text);
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw thrown;
    const [problem = "not TOML"] = thrown.message.replace(/^Invalid TOML document: /, "").split("\n");
    throw new ConfigError(`${path} line ${thrown.line}: ${problem}.`);
  }
}

/** Throws a ConfigError if a key is unknown or its value invalid. */
export function checkValue(path: readonly string[], value: unknown, level: ConfigLevel): void {
  const problem = problemOf(path, value, level);
  if (problem !== undefined) throw new ConfigError(problem);
}

/** The valid values of a document, and the problems with the others. */
export interface CheckedDocument {
  readonly values: ConfigValues;
  readonly problems: readonly { readonly at: readonly string[]; readonly problem: string }[];
}

/** Checks every value of a document. */
export function checkedDocument(document: object, level: ConfigLevel): CheckedDocument {
  const values = new Map<string, unknown>();
  const problems: { at: readonly string[]; problem: string }[] = [];
  const visit = (at: readonly string[], value: unknown) => {
    if (rowNameOf(at) === undefined && isTable(value) && namesBelow(at).length > 0) {
      for (const [name, inner] of Object.entries(value)) visit([...at, name], inner);
      return;
    }
    const problem = problemOf(at, value, level);
    if (problem === undefined) values.set(formatKey(at), value);
    else problems.push({ at, problem });
  };
  visit([], document);
  for (const at of homesWithoutUse(values)) {
    problems.push({ at, problem: `${at.join(".")} is for claude and codex. Set driver, or use env.` });
  }
  return { values: new ConfigValues(values), problems };
}

/** A folder of an agent that is neither Claude nor Codex would have no effect. */
function homesWithoutUse(values: ReadonlyMap<string, unknown>): string[][] {
  return [...values.keys()].flatMap((key) => {
    const [, name = ""] = /^agents\.(.+)\.home$/.exec(key) ?? [];
    const kind = values.get(`agents.${name}.driver`) ?? name;
    return name === "" || kind === "claude" || kind === "codex" ? [] : [["agents", name, "home"]];
  });
}

/** Returns the reason a name of an agent, or its kind, is invalid. */
function agentProblem([table, agent = "", key]: readonly string[], value: unknown): string | undefined {
  if (table !== "agents") return undefined;
  if (agent === "flint" || !/^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/.test(agent))
    return `${JSON.stringify(agent)} cannot be the name of an agent: use letters, digits, "-" and "_"; flint is reserved.`;
  const isTaken = KNOWN_AGENTS.some(({ id }) => id === agent);
  if (key !== "driver" || value === agent || !isTaken) return undefined;
  return `agents.${agent} is a built-in agent; choose another name for an agent with driver = ${JSON.stringify(value)}.`;
}

function checked(document: object, text: string, path: string, level: ConfigLevel): ConfigValues {
  const { values, problems } = checkedDocument(document, level);
  const lines = problems.map(({ at, problem }) => `${path}${lineOf(text, at)}: ${problem}`);
  if (lines.length > 0) throw new ConfigError(lines.join("\n"));
  return values;
}

function problemOf(path: readonly string[], value: unknown, level: ConfigLevel): string | undefined {
  const name = formatKey(path);
  const row = rowNameOf(path);
  if (row === undefined) return unknownKey(path);
  if (!hasValidDots(path)) return `${name}: a name cannot contain a dot.`;
  const wrongAgent = agentProblem(path, value);
  if (wrongAgent !== undefined) return wrongAgent;
  const { schema, takes, inProject } = CONFIG_KEYS[row];
  if (!schema.safeParse(value).success) return `${name} must be ${takes}, not ${JSON.stringify(value)}.`;
  if (level === "project" && !inProject) return `${name} can only be set in your own configuration file.`;
  return undefined;
}

/** The message for a key that does not exist, with the one that was probably meant. */
export function unknownKey(path: readonly string[]): string {
  const name = formatKey(path);
  for (let depth = 0; depth < path.length; depth += 1) {
    const known = namesBelow(path.slice(0, depth));
    const part = path[depth] ?? "";
    if (known.includes(part) || known.includes("*")) continue;
    const meant = nearest(part, known);
    const hint =
      meant === undefined ? `Valid keys: ${known.join(", ")}.` : `Did you mean ${JSON.stringify(meant)}?`;
    const shown = name.includes('"') ? name : JSON.stringify(name);
    return `unknown key ${shown}. ${hint}`;
  }
  return `${name} is a table, not a value. Its keys: ${namesBelow(path).join(", ")}.`;
}

/** The line of a key, as far as it can be found by its name. */
function lineOf(text: string, path: readonly string[]): string {
  const last = path.at(-1) ?? "";
  const lines = text.split("\n");
  const index = lines.findIndex((line) => {
    const written = line.trim().replace(/^\[+/, "").replaceAll('"', "");
    return (
      written.startsWith(`${last} `) || written.startsWith(`${last}=`) || written.startsWith(path.join("."))
    );
  });
  return index === -1 ? "" : ` line ${index + 1}`;
}

/** Reports whether a value is a TOML table. */
export function isTable(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && !(value instanceof Date);
}

/** The validated values of one or more configuration files. */
export class ConfigValues {
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(values: ReadonlyMap<string, unknown> = new Map()) {
    this.#values = values;
  }

  /** The value of a key; `named` replaces the `*` in it. */
  get<Name extends ConfigName>(name: Name, named = ""): ConfigValue<Name> | undefined {
    const value = this.#values.get(name.replace("*", () => formatKey([named])));
    // Every value was validated against the schema of its row.
    return value as ConfigValue<Name> | undefined;
  }

  /** The names that the user chose in a table, such as those of the MCP servers. */
  names(table: "agents" | "mcp_servers" | "models" | "providers"): readonly string[] {
    const keys = [...this.#values.keys()].filter((key) => key.startsWith(`${table}.`));
    return [...new Set(keys.map((key) => parseKey(key)[1] ?? ""))];
  }

  /** Every key that is set, with its value. */
  entries(): readonly (readonly [string, unknown])[] {
    return [...this.#values];
  }
}

/** The table whose names may contain dots: many models have a version in their name. */
const DOTTED_TABLE = "models";

/** Reports whether a path can be that of a key: only the names of models may contain dots. */
function hasValidDots([table, ...rest]: readonly string[]): boolean {
  return table === DOTTED_TABLE || rest.every((part) => !part.includes("."));
}

/** A key as TOML writes it: a part that is not a plain word is quoted. */
export function formatKey(path: readonly string[]): string {
  return path.map((part) => (/^[\w-]+$/.test(part) ? part : JSON.stringify(part))).join(".");
}

/**
 * The path of a key that a user wrote. A shell removes quotes, so the name of a model may also be given without them:
 * `models.gpt-6.1.price_input`.
 */
export function parseKey(key: string): readonly string[] {
  const path = [...key.matchAll(/"([^"]*)"|'([^']*)'|([^."']+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? "",
  );
  const [table = "", ...rest] = path;
  if (table !== DOTTED_TABLE || rest.length < 2 || rowNameOf(path) !== undefined) return path;
  const joined = [table, rest.slice(0, -1).join("."), rest.at(-1) ?? ""];
  return rowNameOf(joined) === undefined ? path : joined;
}
