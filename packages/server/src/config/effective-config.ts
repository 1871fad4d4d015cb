import { CONFIG_KEYS, CONFIG_NAMES, type ConfigName, rowNameOf } from "./keys/table.ts";
import { parseKey } from "./parse.ts";
import { readSystemConfig, SYSTEM_CONFIG_PATH } from "./system-config.ts";
import type { UserConfig } from "./user-config.ts";
import type { WorkspaceFiles } from "./workspace-files.ts";

/** A value that the machine's administrator has locked: others can only be the same or stricter. */
export interface ConfigLock {
  readonly value: unknown;
  /** The file that locks it. */
  readonly path: string;
}

/** A value of the configuration files in force in a folder. */
export interface EffectiveValue {
  readonly name: string;
  readonly value: unknown;
  /** The file that sets it. */
  readonly path: string;
  readonly level: "machine" | "user" | "project";
  readonly lock: ConfigLock | undefined;
}

/** The sources of the values. */
export interface ConfigSources {
  readonly user: UserConfig;
  readonly project: WorkspaceFiles;
  readonly cwd: string;
  /** The file of the machine, for tests. */
  readonly machinePath?: string;
}

/** The values in force in a folder: those of the machine, overridden by the user's, overridden by the folder's trusted files. */
export async function effectiveConfig(sources: ConfigSources): Promise<readonly EffectiveValue[]> {
  const { user, project, cwd, machinePath = SYSTEM_CONFIG_PATH } = sources;
  const [machine, own, here] = await Promise.all([
    readSystemConfig(machinePath),
    user.read(),
    project.entries(cwd),
  ]);
  const machineValues = new Map(machine?.values.entries() ?? []);
  const lockOf = (name: string): ConfigLock | undefined =>
    machine?.locked.has(name) === true ? { value: machineValues.get(name), path: machinePath } : undefined;
  const from = (level: EffectiveValue["level"], path: string, name: string, value: unknown) =>
    [name, { name, value, path, level, lock: lockOf(name) }] as const;
  const all = [
    ...[...machineValues].map(([name, value]) => from("machine", machinePath, name, value)),
    ...own.entries().map(([name, value]) => from("user", user.path, name, value)),
    ...here.map(({ name, value, path }) => from("project", path, name, value)),
  ];
  return [...new Map<string, EffectiveValue>(all).values()];
}

/** Describes a key, of any name that the table allows; undefined if there is none of this name. */
export function describeKey(name: string): (typeof CONFIG_KEYS)[ConfigName] | undefined {
  const row = rowNameOf(parseKey(name));
  return row === undefined ? undefined : CONFIG_KEYS[row];
}

/** The names of the keys whose name is not up to the user. */
export const FIXED_NAMES: readonly ConfigName[] = CONFIG_NAMES.filter((name) => !name.includes("*"));

/** The values of a key that has only a few; none if it has any others. */
export function choicesOf(name: string): readonly string[] {
  const schema = describeKey(name)?.schema;
  if (schema === undefined) return [];
  const { def } = schema._zod;
  if (def.type === "boolean") return ["true", "false"];
  return def.type === "enum" ? Object.values(def.entries).map(String) : [];
}

/** A value as a user writes it: as JSON, unless the key takes a string. */
export function typedValue(name: string, text: string): unknown {
  if (describeKey(name)?.schema.safeParse(text).success === true) return text;
  try {
    return JSON.parse(text);
  } catch {
    // Checked against the schema of the key afterwards, which explains what is wrong.
    return text;
  }
}
