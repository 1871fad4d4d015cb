import { join } from "node:path";
import {
  CONFIG_KEYS,
  CONFIG_NAMES,
  ConfigError,
  formatKey,
  namesBelow,
  parseKey,
  rowNameOf,
  SYSTEM_CONFIG_PATH,
  UserConfig,
  unknownKey,
} from "@flint/server/config";
import { stateFolder, userConfigPath } from "@flint/server/environment";
import { TrustFile, WorkspaceFiles } from "@flint/server/workspace";
import { escapeControls } from "@flint/view";
import { noArguments, oneArgument, UsageError } from "../command-line/command.ts";
import { print, printError, printJson, printRaw } from "../command-line/output.ts";

interface Positionals {
  readonly positionals: readonly string[];
}

interface GetArguments extends Positionals {
  readonly values: { readonly json?: boolean | undefined };
}

/** A key that is set, and the project file that sets it; no path for the user's own file. */
interface Entry {
  readonly name: string;
  readonly value: unknown;
  readonly path?: string;
}

/**
 * `flint config get [KEY]`: prints the configuration of the current folder: the user's file, overridden by the folder's
 * trusted files. The exit code is 1 for a key that is not set.
 */
export async function getConfig({ values, positionals }: GetArguments): Promise<number> {
  const [key, ...more] = positionals;
  noArguments("config get", more);
  const json = values.json === true;
  const entries = await entriesHere();
  if (key === undefined) return sayEntries(entries, json);
  if (rowNameOf(parseKey(key)) === undefined) return sayTable(key, entries, json);
  const found = entries.find(({ name }) => name === formatKey(parseKey(key)));
  if (found === undefined) return printError(notSet(key), 1);
  if (found.path !== undefined && !json) process.stderr.write(`(from ${found.path} in this folder)\n`);
  const { value } = found;
  return json ? printJson(value) : printRaw(`${typeof value === "string" ? value : JSON.stringify(value)}\n`);
}

/** Prints every key of a table. Throws if there is no such table. */
function sayTable(key: string, entries: readonly Entry[], json: boolean): number {
  const path = parseKey(key);
  if (namesBelow(path).length === 0) throw new ConfigError(unknownKey(path));
  const below = entries.filter(({ name }) => name.startsWith(`${formatKey(path)}.`));
  if (below.length > 0) return sayEntries(below, json);
  return printError(`No key under ${key} is set. flint config keys lists them.`, 1);
}

function sayEntries(entries: readonly Entry[], json: boolean): number {
  if (json) return printJson(Object.fromEntries(entries.map(({ name, value }) => [name, value])));
  const lines = entries.map(({ name, value, path }) => {
    const origin = path === undefined ? "" : `  # ${path} in this folder`;
    return `${name} = ${JSON.stringify(value)}${origin}\n`;
  });
  return print(escapeControls(lines.join("")));
}

function notSet(key: string): string {
  return `${key} is not set. Set it with flint config set ${key} VALUE.`;
}

async function entriesHere(): Promise<readonly Entry[]> {
  const own = (await userConfig().read()).entries().map(([name, value]): Entry => ({ name, value }));
  const files = new WorkspaceFiles(new TrustFile(join(stateFolder(), "trust.json")));
  const here = await files.entries(process.cwd());
  const all = [...own, ...here].map((entry) => [entry.name, entry] as const);
  return [...new Map<string, Entry>(all).values()];
}

/** `flint config set KEY VALUE`. The value is parsed as JSON unless the key takes a string. */
export async function setConfig({ positionals }: Positionals): Promise<number> {
  const [key, text, ...more] = positionals;
  if (key === undefined || text === undefined) {
    throw new UsageError("config set needs a key and a value: flint config set model flint/offline");
  }
  noArguments("config set", more);
  checkName(key);
  const config = userConfig();
  await config.set(parseKey(key), typedValue(key, text));
  return print(`Set ${key} in ${config.path}\n`);
}

/** `flint config unset KEY`. */
export async function unsetConfig({ positionals }: Positionals): Promise<number> {
  const key = oneArgument("config unset", positionals, "a key");
  const config = userConfig();
  // Any key of the file can be removed, valid or not.
  if (await config.unset(parseKey(key))) return print(`Removed ${key} from ${config.path}\n`);
  checkName(key);
  return printError(`${key} is not set.`, 1);
}

/** `flint config path`. */
export async function showPaths({ positionals }: Positionals): Promise<number> {
  noArguments("config path", positionals);
  const project = join(process.cwd(), ".flint", "config.toml");
  return print(
    `yours    ${userConfigPath()}\nproject  ${project} (after flint trust)\nmachine  ${SYSTEM_CONFIG_PATH} (can lock keys)\nthreads  ${stateFolder()}\n`,
  );
}

/** `flint config keys`. */
export async function listKeys({ positionals }: Positionals): Promise<number> {
  noArguments("config keys", positionals);
  const rows = CONFIG_NAMES.map((name) => {
    const { takes, doc, inProject } = CONFIG_KEYS[name];
    const where = inProject ? "" : " Only in your own configuration file.";
    return `${name}\n    ${doc}${where}\n    Value: ${takes}.\n`;
  });
  return print(rows.join(""));
}

function userConfig(): UserConfig {
  return new UserConfig(userConfigPath());
}

/** Reports an unknown key as the file's parser would; a table is not a key. */
function checkName(key: string): void {
  if (rowNameOf(parseKey(key)) === undefined) throw new ConfigError(unknownKey(parseKey(key)));
}

/** The argument as the type of value that the key takes. */
function typedValue(key: string, text: string): unknown {
  const row = rowNameOf(parseKey(key));
  if (row !== undefined && CONFIG_KEYS[row].schema.safeParse(text).success) return text;
  try {
    return JSON.parse(text);
  } catch {
    // Checked against the schema of the key afterwards, which explains what is wrong.
    return text;
  }
}
