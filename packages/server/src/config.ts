import { homedir } from "node:os";
import { join } from "node:path";

/** Every environment variable that Flint reads, and what it is for. Nothing else in Flint reads the environment. */
export const ENVIRONMENT = {
  FLINT_HOME: "Where threads and rules are kept. Default: $XDG_STATE_HOME/flint, else ~/.local/state/flint.",
  XDG_STATE_HOME: "The folder for state of all programs; used when FLINT_HOME is not set.",
  FLINT_MODEL: "The model of new threads, such as flint/offline.",
  NO_COLOR: "Set to anything: no colours.",
} as const;

/** The name of a variable that Flint reads. */
export type EnvironmentName = keyof typeof ENVIRONMENT;

/** The value of a variable, or undefined if it is not set or empty. */
export function setting(name: EnvironmentName): string | undefined {
  const value = process.env[name];
  return value === "" ? undefined : value;
}

/** The whole environment, for the commands that agents start. */
export function inheritedEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/** Where threads are kept. */
export function stateFolder(): string {
  const home = setting("FLINT_HOME");
  if (home !== undefined) return home;
  return join(setting("XDG_STATE_HOME") ?? join(homedir(), ".local", "state"), "flint");
}
