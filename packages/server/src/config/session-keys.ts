import { type Keymap, keymapOf } from "@flint/view/commands";
import { ConfigError, type ConfigValues } from "./parse.ts";

/** The keys of terminal sessions. Throws a ConfigError if one key would mean two things in one place. */
export function sessionKeymap(values: ConfigValues): Keymap {
  const keymap = keymapOf(Object.fromEntries(values.entries().flatMap(changedKeys)));
  if (keymap.problems.length === 0) return keymap;
  const problems = keymap.problems.map((problem) => `keys: ${problem}`);
  throw new ConfigError([...problems, "Choose another key, or [] for a command without keys."].join(" "));
}

/** What the configuration says about one command. */
function changedKeys([name, value]: readonly [string, unknown]): [string, readonly string[]][] {
  const [table, command] = name.split(".");
  if (table !== "keys" || command === undefined) return [];
  return [[command, [value].flat().filter((key) => typeof key === "string")]];
}
