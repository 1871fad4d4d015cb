import { join } from "node:path";
import { CONFIG_KEYS, CONFIG_NAMES, rowNameOf } from "../config/keys.ts";
import { ConfigError, unknownKey } from "../config/parse.ts";
import { UserConfig } from "../config/user-config.ts";
import { stateFolder, userConfigPath } from "../config.ts";
import { noArguments, oneArgument, UsageError } from "./arguments.ts";
import { complain, say, sayJson } from "./output.ts";

interface Positionals {
  readonly positionals: readonly string[];
}

interface GetArguments extends Positionals {
  readonly values: { readonly json?: boolean | undefined };
}

/** `flint config get [KEY]`: what the user's own file says. A key that is not set gives exit code 1. */
export async function getConfig({ values, positionals }: GetArguments): Promise<number> {
  const [key, ...more] = positionals;
  noArguments("config get", more);
  const entries = (await userConfig().read()).entries();
  if (key === undefined) {
    if (values.json === true) return sayJson(Object.fromEntries(entries));
    return say(entries.map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`).join(""));
  }
  checkName(key);
  const found = entries.find(([name]) => name === key);
  if (found === undefined) return complain(`${key} is not set. flint config set ${key} VALUE sets it.`, 1);
  const [, value] = found;
  return values.json === true
    ? sayJson(value)
    : say(`${typeof value === "string" ? value : JSON.stringify(value)}\n`);
}

/** `flint config set KEY VALUE`: a value is JSON where the key takes no text. */
export async function setConfig({ positionals }: Positionals): Promise<number> {
  const [key, text, ...more] = positionals;
  if (key === undefined || text === undefined) {
    throw new UsageError("config set needs a key and a value: flint config set model flint/offline");
  }
  noArguments("config set", more);
  checkName(key);
  const config = userConfig();
  await config.set(key.split("."), typedValue(key, text));
  return say(`${key} is set in ${config.path}\n`);
}

/** `flint config unset KEY`. */
export async function unsetConfig({ positionals }: Positionals): Promise<number> {
  const key = oneArgument("config unset", positionals, "a key");
  checkName(key);
  if (await userConfig().unset(key.split("."))) return 0;
  return complain(`${key} is not set.`, 1);
}

/** `flint config path`. */
export async function showPaths({ positionals }: Positionals): Promise<number> {
  noArguments("config path", positionals);
  const project = join(process.cwd(), ".flint", "config.toml");
  return say(
    `yours    ${userConfigPath()}\nproject  ${project} (after flint trust)\nthreads  ${stateFolder()}\n`,
  );
}

/** `flint config keys`. */
export async function listKeys({ positionals }: Positionals): Promise<number> {
  noArguments("config keys", positionals);
  const rows = CONFIG_NAMES.map((name) => {
    const { takes, doc, inProject } = CONFIG_KEYS[name];
    const where = inProject ? "" : " Only in your own file.";
    return `${name}\n    ${doc}${where}\n    Takes ${takes}.\n`;
  });
  return say(rows.join(""));
}

function userConfig(): UserConfig {
  return new UserConfig(userConfigPath());
}

/** Unknown names get the same words as in the file; a table is not a key. */
function checkName(key: string): void {
  if (rowNameOf(key.split(".")) === undefined) throw new ConfigError(unknownKey(key.split(".")));
}

/** What was typed, as the kind of value that the key takes. */
function typedValue(key: string, text: string): unknown {
  const row = rowNameOf(key.split("."));
  if (row !== undefined && CONFIG_KEYS[row].schema.safeParse(text).success) return text;
  try {
    return JSON.parse(text);
  } catch {
    // Whatever it is, it is checked against the key, and refused in words.
    return text;
  }
}
