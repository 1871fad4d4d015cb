import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { writePrivateFile } from "@flint/host/private-file";
import { type Keymap, keymapOf } from "@flint/view/commands";
import { mcpServersOf } from "./mcp-servers.ts";
import {
  ConfigError,
  ConfigValues,
  checkedDocument,
  checkValue,
  formatKey,
  isTable,
  parseConfig,
  parseDocument,
  parseKey,
} from "./parse.ts";
import { agentPermissionsOf, policiesOf } from "./policies.ts";
import { nativeOptions } from "./server-config.ts";

/** The user's configuration file. A missing file is empty. */
export class UserConfig {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Reads it. Throws a ConfigError if it is invalid. */
  async read(): Promise<ConfigValues> {
    const text = await this.#text();
    return text === "" ? new ConfigValues() : parseConfig(text, this.path, "user");
  }

  /**
   * Sets a key and leaves everything else in the file as it is. Throws a ConfigError, and writes nothing, if that would
   * add a problem that the file does not have yet.
   */
  async set(path: readonly string[], value: unknown): Promise<void> {
    const text = await this.#text();
    const next = await withValue(text, path, value, this.path);
    const before = await problemsIn(text, this.path);
    const problem = (await problemsIn(next, this.path)).find((each) => !before.includes(each));
    if (problem !== undefined) throw new ConfigError(problem);
    await writePrivateFile(this.path, next);
  }

  /** Removes a key; false if the file does not have it. */
  async unset(path: readonly string[]): Promise<boolean> {
    const text = await this.#text();
    const next = await withoutKey(text, path, this.path);
    if (next === undefined) return false;
    await writePrivateFile(this.path, next);
    return true;
  }

  async #text(): Promise<string> {
    try {
      return await readFile(this.path, "utf8");
    } catch (thrown) {
      if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return "";
      throw thrown;
    }
  }
}

/** Every problem for which a server would refuse this text as the user's configuration. */
async function problemsIn(text: string, path: string): Promise<readonly string[]> {
  const { values, problems } = checkedDocument(await parseDocument(text, path), "user");
  return [...problems.map(({ problem }) => problem), ...contradictions(values)];
}

/** Values that are valid on their own but contradict each other. A variable that is not set is not such a problem. */
function contradictions(values: ConfigValues): string[] {
  const checks = [
    () => policiesOf(values),
    () => agentPermissionsOf(values),
    () => mcpServersOf(values, (text) => text),
    () => nativeOptions(values),
    () => sessionKeymap(values),
  ];
  return checks.flatMap((check) => {
    // Expected: a ConfigError, which is the result.
    try {
      check();
      return [];
    } catch (thrown) {
      if (thrown instanceof ConfigError) return [thrown.message];
      throw thrown;
    }
  });
}

/**
 * Sets a key in the text of a configuration file, keeping comments and order. Throws a ConfigError if the key is written
 * in a form that cannot be edited safely.
 */
async function withValue(
  text: string,
  path: readonly string[],
  value: unknown,
  file: string,
): Promise<string> {
  checkValue(path, value, "user");
  const { stringify } = await import("smol-toml");
  const [name = ""] = path.slice(-1);
  const line = stringify({ [name]: value }).trim();
  if (line.includes("\n"))
    throw new ConfigError(`${formatKey(path)} cannot be set automatically; edit ${file} by hand.`);
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const table = formatKey(path.slice(0, -1));
  const position = findKey(lines, table, name);
  const next = position.found ? lines.with(position.at, line) : inserted(lines, position, table, line);
  return verified(`${next.join("\n")}\n`, text, path, value, file);
}

/** Removes a key from the text; undefined if it is not there. */
async function withoutKey(text: string, path: readonly string[], file: string): Promise<string | undefined> {
  const lines = text.split("\n");
  const position = findKey(lines, formatKey(path.slice(0, -1)), path.at(-1) ?? "");
  if (!position.found) return undefined;
  const next = withoutEmptyTable(lines.toSpliced(position.at, 1), position.at - 1);
  return verified(next.join("\n"), text, path, undefined, file);
}

/** Removes the header of an empty table and the blank lines before it. */
function withoutEmptyTable(lines: readonly string[], end: number): readonly string[] {
  const above = lines.slice(0, end + 1).findLastIndex((line) => line.trim() !== "");
  const below = lines.slice(end + 1).find((line) => line.trim() !== "");
  const isEmpty = TABLE_HEAD.test(lines[above] ?? "") && (below === undefined || /^\s*\[/.test(below));
  if (!isEmpty) return lines;
  const before = lines.slice(0, above).findLastIndex((line) => line.trim() !== "");
  return [...lines.slice(0, before + 1), ...lines.slice(above + 1)];
}

const TABLE_HEAD = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/;

/** The line of a key, or where its table ends if the key is missing (-1: there is no such table). */
interface KeyPosition {
  readonly found: boolean;
  readonly at: number;
}

function findKey(lines: readonly string[], table: string, name: string): KeyPosition {
  let current = "";
  let end = table === "" ? 0 : -1;
  for (const [at, line] of lines.entries()) {
    const [, header] = TABLE_HEAD.exec(line) ?? [];
    if (header !== undefined) current = formatKey(parseKey(header.replaceAll(/\s/g, "")));
    else if (/^\s*\[\[/.test(line)) current = "\0";
    if (current !== table) continue;
    const [, key] = /^\s*([A-Za-z0-9_-]+|"[^"]*")\s*=/.exec(line) ?? [];
    if (header === undefined && key?.replaceAll('"', "") === name) return { found: true, at };
    if (line.trim() !== "") end = at + 1;
  }
  return { found: false, at: end };
}

function inserted(lines: readonly string[], { at }: KeyPosition, table: string, line: string): string[] {
  if (at >= 0) return lines.toSpliced(at, 0, line);
  const gap = lines.length === 0 ? [] : [""];
  return [...lines, ...gap, `[${table}]`, line];
}

/**
 * Returns the new text if parsing it gives exactly the old document with the change. Problems that were there before may
 * remain: an invalid file must not keep the user from fixing it.
 */
async function verified(
  next: string,
  before: string,
  path: readonly string[],
  value: unknown,
  file: string,
): Promise<string> {
  const requested = changed(await parseDocument(before, file), path, value);
  const problem = () =>
    new ConfigError(
      `${formatKey(path)} is written in a form that cannot be edited automatically; edit ${file} by hand.`,
    );
  const got = await parseDocument(next, file).catch(() => {
    throw problem();
  });
  if (!isDeepStrictEqual(withoutEmpty(got), withoutEmpty(requested))) throw problem();
  return next;
}

function changed(document: unknown, [name = "", ...rest]: readonly string[], value: unknown): unknown {
  const { [name]: inner, ...others } = isTable(document) ? document : {};
  const next = rest.length === 0 ? value : changed(inner, rest, value);
  return next === undefined ? others : { ...others, [name]: next };
}

/** Drops empty tables, which mean the same as none. */
function withoutEmpty(document: unknown): unknown {
  if (!isTable(document)) return document;
  const entries = Object.entries(document).map(([name, value]) => [name, withoutEmpty(value)] as const);
  return Object.fromEntries(entries.filter(([, value]) => !isTable(value) || Object.keys(value).length > 0));
}

/** The keys of terminal sessions. Throws a ConfigError if one key would mean two things in one place. */
export function sessionKeymap(values: ConfigValues): Keymap {
  const keymap = keymapOf(Object.fromEntries(values.entries().flatMap(changedKeys)));
  if (keymap.problems.length === 0) return keymap;
  const problems = keymap.problems.map((problem) => `keys: ${problem}`);
  throw new ConfigError([...problems, "Choose another key, or [] for a command without keys."].join(" "));
}

/** Returns the keys that the configuration sets for one command. */
function changedKeys([name, value]: readonly [string, unknown]): [string, readonly string[]][] {
  const [table, command] = name.split(".");
  if (table !== "keys" || command === undefined) return [];
  return [[command, [value].flat().filter((key) => typeof key === "string")]];
}
