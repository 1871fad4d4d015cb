import { join } from "node:path";
import {
  CONFIG_KEYS,
  CONFIG_NAMES,
  ConfigError,
  choicesOf,
  describeKey,
  type EffectiveValue,
  effectiveConfig,
  FIXED_NAMES,
  formatKey,
  namesBelow,
  parseKey,
  rowNameOf,
  SYSTEM_CONFIG_PATH,
  typedValue,
  UserConfig,
  unknownKey,
} from "@flint/server/config";
import { stateFolder, userConfigPath } from "@flint/server/environment";
import { TrustFile, WorkspaceFiles } from "@flint/server/workspace";
import type { ConfigKey } from "@flint/tui";
import { escapeControls } from "@flint/view";
import { noArguments, oneArgument, UsageError } from "../command-line/command.ts";
import { print, printError, printJson, printRaw } from "../command-line/output.ts";
import { unknownAgentMessage } from "../command-line/server-options.ts";

interface Positionals {
  readonly positionals: readonly string[];
}

interface GetArguments extends Positionals {
  readonly values: { readonly json?: boolean | undefined };
}

/**
 * `flint config get [KEY]`: prints the configuration of the current folder: the machine's file, overridden by the user's,
 * overridden by the folder's trusted files. The exit code is 1 for a key that is not set.
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
  const origin = originOf(found);
  if (origin !== undefined && !json) process.stderr.write(`(from ${origin})\n`);
  const { value } = found;
  return json ? printJson(value) : printRaw(`${typeof value === "string" ? value : JSON.stringify(value)}\n`);
}

/** Prints every key of a table. Throws if there is no such table. */
function sayTable(key: string, entries: readonly EffectiveValue[], json: boolean): number {
  const path = parseKey(key);
  if (namesBelow(path).length === 0) throw new ConfigError(unknownKey(path));
  const below = entries.filter(({ name }) => name.startsWith(`${formatKey(path)}.`));
  if (below.length > 0) return sayEntries(below, json);
  return printError(`No key under ${key} is set. flint config keys lists them.`, 1);
}

function sayEntries(entries: readonly EffectiveValue[], json: boolean): number {
  if (json) return printJson(Object.fromEntries(entries.map(({ name, value }) => [name, value])));
  const lines = entries.map((entry) => {
    const origin = originOf(entry);
    return `${entry.name} = ${JSON.stringify(entry.value)}${origin === undefined ? "" : `  # ${origin}`}\n`;
  });
  return print(escapeControls(lines.join("")));
}

/** The file that sets a value, and the one that locks it; undefined for a plain value of the user's own file. */
export function originOf({ path, level, lock }: EffectiveValue): string | undefined {
  const locked = lock === undefined ? [] : [`locked at ${JSON.stringify(lock.value)} by ${lock.path}`];
  const file = level === "user" ? [] : [level === "project" ? `${path} in this folder` : path];
  const parts = level === "machine" && lock !== undefined ? [`locked by ${path}`] : [...file, ...locked];
  return parts.length === 0 ? undefined : parts.join(", ");
}

function notSet(key: string): string {
  return `${key} is not set. Set it with flint config set ${key} VALUE.`;
}

function entriesHere(): Promise<readonly EffectiveValue[]> {
  return configIn(process.cwd());
}

/** The configuration in force in a folder. */
export function configIn(cwd: string): Promise<readonly EffectiveValue[]> {
  const project = new WorkspaceFiles(new TrustFile(join(stateFolder(), "trust.json")));
  return effectiveConfig({ user: userConfig(), project, cwd });
}

/** `flint config set KEY VALUE`. The value is parsed as JSON unless the key takes a string. */
export async function setConfig({ positionals }: Positionals): Promise<number> {
  const [key, text, ...more] = positionals;
  if (key === undefined || text === undefined) {
    throw new UsageError("config set needs a key and a value: flint config set model flint/offline");
  }
  noArguments("config set", more);
  return print(`Set ${key} in ${await changeConfig(key, text)}\n`);
}

/** Sets a key of the user's file as it is typed, or removes it. Gives the file; throws a ConfigError if that cannot be. */
export async function changeConfig(key: string, typed: string | undefined): Promise<string> {
  const config = userConfig();
  if (typed !== undefined) {
    checkName(key);
    const problem = key === "agent" ? await unknownAgentMessage(typed) : undefined;
    if (problem !== undefined) throw new ConfigError(problem);
    await config.set(parseKey(key), typedValue(key, typed));
  } else if (!(await config.unset(parseKey(key))))
    throw new ConfigError(`${key} is not set in ${config.path}.`);
  return config.path;
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

/** Every key that is set in a folder, and every other key that has one name. */
export async function configKeys(cwd: string): Promise<readonly ConfigKey[]> {
  const set = new Map((await configIn(cwd)).map((entry) => [entry.name, entry]));
  const names = new Set([...FIXED_NAMES, ...set.keys()]);
  return [...names].flatMap((name) => {
    const row = describeKey(name);
    if (row === undefined) return [];
    const entry = set.get(name);
    const value = entry?.value;
    const shown = value === undefined || typeof value === "string" ? value : JSON.stringify(value);
    const { doc, takes } = row;
    return [
      {
        ...{ name, doc, takes, choices: choicesOf(name), value: shown },
        ...{ source: entry?.path, lockedBy: entry?.lock?.path },
      },
    ];
  });
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
