import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import type { SettingsLocks } from "@flint/core";
import { agentOfModel } from "@flint/protocol";
import { nearest } from "@flint/view/commands";
import { ConfigError, ConfigValues, checkedDocument, parseDocument } from "./parse.ts";
import { policiesOf } from "./policies.ts";

/** The configuration file of the machine. No variable can move it, because then the users it restricts could. */
export const SYSTEM_CONFIG_PATH = "/etc/flint/config.toml";

/** The configuration by the administrator of the machine. */
export interface SystemConfig {
  /** Values for everyone who does not set them. */
  readonly values: ConfigValues;
  readonly locks: SettingsLocks | undefined;
  /** The names of the keys that are locked. */
  readonly locked: ReadonlySet<string>;
  /** Options that cannot be turned on. */
  readonly forbidden: ReadonlySet<"allow_unconfined" | "allow_remote_mcp">;
}

const LOCKABLE = [
  ...[
    "agent",
    "model",
    "approval_policy",
    "sandbox",
    "network",
    "git",
    "allow_unconfined",
    "allow_remote_mcp",
  ],
  ...["budget.turn.tokens", "budget.turn.cost_usd", "budget.turn.seconds", "budget.turn.steps"],
  ...["budget.thread.tokens", "budget.thread.cost_usd", "budget.thread.seconds", "budget.thread.turns"],
];

const OTHERS_CAN_WRITE = 0o022;

/** Reads the machine's configuration; undefined if there is none. Throws a ConfigError if it is invalid or not safe. */
export async function readSystemConfig(path = SYSTEM_CONFIG_PATH): Promise<SystemConfig | undefined> {
  if (!existsSync(path)) return undefined;
  const { mode } = await stat(path);
  if ((mode & OTHERS_CAN_WRITE) !== 0) {
    throw new ConfigError(`Other users can write to ${path}. Fix it with chmod go-w ${path}.`);
  }
  const { locked = [], ...document } = await parseDocument(await readFile(path, "utf8"), path);
  const { values, problems } = checkedDocument(document, "user");
  const lines = [...problems.map(({ problem }) => problem), ...lockProblems(locked, values)];
  if (lines.length > 0) throw new ConfigError(lines.map((line) => `${path}: ${line}`).join("\n"));
  // Checked above.
  const names = new Set(locked as readonly string[]);
  const [locks, forbidden] = [locksOf(values, names, path), forbiddenOf(values, names)];
  return { values, locked: names, locks, forbidden };
}

/** The values of the machine, overridden by those of the user. */
export function mergedConfig(system: ConfigValues, user: ConfigValues): ConfigValues {
  return new ConfigValues(new Map([...system.entries(), ...user.entries()]));
}

function lockProblems(locked: unknown, values: ConfigValues): readonly string[] {
  if (!Array.isArray(locked) || !locked.every((name) => typeof name === "string"))
    return ['locked must be a list of keys, such as ["sandbox"].'];
  const set = new Set(values.entries().map(([name]) => name));
  return locked.flatMap((name: string) => {
    if (!LOCKABLE.includes(name)) {
      const meant = nearest(name, LOCKABLE);
      const hint = meant === undefined ? `Use some of: ${LOCKABLE.join(", ")}.` : `Did you mean "${meant}"?`;
      return [`locked: ${JSON.stringify(name)} cannot be locked. ${hint}`];
    }
    return set.has(name) ? [] : [`locked: ${name} has no value in this file, so there is nothing to lock.`];
  });
}

function locksOf(
  values: ConfigValues,
  names: ReadonlySet<string>,
  source: string,
): SettingsLocks | undefined {
  if (names.size === 0) return undefined;
  const { model, approvalPolicy, sandboxPolicy, network, git, budget } = policiesOf(
    lockedOnly(values, names),
  );
  const agent = values.get("agent");
  return {
    source,
    ...(names.has("agent") && agent !== undefined ? { agent } : {}),
    ...(names.has("model") && model !== undefined && model !== agentOfModel(model) ? { model } : {}),
    ...{ approvalPolicy, sandboxPolicy, git, budget },
    hosts: typeof network === "object" ? network.hosts : undefined,
  };
}

/** The locked values; those of the workspace-write sandbox, and whether limits have to hold, are locked with them. */
function lockedOnly(values: ConfigValues, names: ReadonlySet<string>): ConfigValues {
  const hasBudget = [...names].some((name) => name.startsWith("budget."));
  const parts = [
    ...(names.has("sandbox") ? ["network_access", "writable_roots"] : []),
    ...(hasBudget ? ["budget.enforcement"] : []),
  ];
  return new ConfigValues(
    new Map(values.entries().filter(([name]) => names.has(name) || parts.includes(name))),
  );
}

function forbiddenOf(values: ConfigValues, names: ReadonlySet<string>): SystemConfig["forbidden"] {
  const keys = ["allow_unconfined", "allow_remote_mcp"] as const;
  return new Set(keys.filter((name) => names.has(name) && values.get(name) === false));
}
