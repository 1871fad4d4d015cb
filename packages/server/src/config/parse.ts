import { ConfigValues } from "./config-values.ts";
import { CONFIG_KEYS, namesBelow, rowNameOf } from "./keys.ts";
import { nearest } from "./nearest.ts";

/** What is wrong with a configuration file, every fault on a line of its own. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Whose file it is. A project may not set everything that a user may. */
export type ConfigLevel = "user" | "project";

/** Reads the text of a configuration file. Throws a ConfigError that names file, line, key and the way out. */
export async function parseConfig(text: string, path: string, level: ConfigLevel): Promise<ConfigValues> {
  return checked(await parseDocument(text, path), text, path, level);
}

/** The text as a document, with nothing checked but that it is TOML. Throws a ConfigError that names file and line. */
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

/** Checks one value for a key that a person wrote. Throws a ConfigError. */
export function checkValue(path: readonly string[], value: unknown, level: ConfigLevel): void {
  const problem = problemOf(path, value, level);
  if (problem !== undefined) throw new ConfigError(problem);
}

/** What a document says that can be used, and what is wrong with the rest. */
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
    if (problem === undefined) values.set(at.join("."), value);
    else problems.push({ at, problem });
  };
  visit([], document);
  return { values: new ConfigValues(values), problems };
}

function checked(document: object, text: string, path: string, level: ConfigLevel): ConfigValues {
  const { values, problems } = checkedDocument(document, level);
  const lines = problems.map(({ at, problem }) => `${path}${lineOf(text, at)}: ${problem}`);
  if (lines.length > 0) throw new ConfigError(lines.join("\n"));
  return values;
}

function problemOf(path: readonly string[], value: unknown, level: ConfigLevel): string | undefined {
  const name = path.join(".");
  const row = rowNameOf(path);
  if (row === undefined) return unknownKey(path);
  if (path.some((part) => part.includes(".")))
    return `${JSON.stringify(name)}: a name cannot have a dot in it.`;
  const { schema, takes, inProject } = CONFIG_KEYS[row];
  if (!schema.safeParse(value).success) return `${name} takes ${takes}; not ${JSON.stringify(value)}.`;
  if (level === "project" && !inProject) return `${name} can only be set in your own configuration file.`;
  return undefined;
}

/** What to say about a key that does not exist. */
export function unknownKey(path: readonly string[]): string {
  const name = path.join(".");
  for (let depth = 0; depth < path.length; depth += 1) {
    const known = namesBelow(path.slice(0, depth));
    const part = path[depth] ?? "";
    if (known.includes(part) || known.includes("*")) continue;
    const meant = nearest(part, known);
    const hint =
      meant === undefined ? `Known here: ${known.join(", ")}` : `Did you mean ${JSON.stringify(meant)}?`;
    return `unknown key ${JSON.stringify(name)}. ${meant === undefined ? `${hint}.` : hint}`;
  }
  return `${name} is a table, not a value. Known in it: ${namesBelow(path).join(", ")}.`;
}

/** Where a key stands, as far as it can be found by its name. */
function lineOf(text: string, path: readonly string[]): string {
  const last = path.at(-1) ?? "";
  const lines = text.split("\n");
  const place = lines.findIndex((line) => {
    const written = line.trim().replace(/^\[+/, "").replaceAll('"', "");
    return (
      written.startsWith(`${last} `) || written.startsWith(`${last}=`) || written.startsWith(path.join("."))
    );
  });
  return place === -1 ? "" : ` line ${place + 1}`;
}

/** Whether a value has names of its own in it. */
export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
