import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { RUN_FILES } from "@flint/protocol";

/** Every environment variable that Flint reads, and what it is for. Nothing else in Flint reads the environment. */
export const ENVIRONMENT = {
  FLINT_HOME: "Where threads and rules are kept. Default: $XDG_STATE_HOME/flint, else ~/.local/state/flint.",
  XDG_STATE_HOME: "The folder for state of all programs; used when FLINT_HOME is not set.",
  FLINT_CONFIG:
    "The user's configuration file. Default: $XDG_CONFIG_HOME/flint/config.toml, else ~/.config/flint/config.toml.",
  XDG_CONFIG_HOME: "The folder for configuration of all programs; used when FLINT_CONFIG is not set.",
  XDG_RUNTIME_DIR:
    "Where the socket of a running server goes if the path of the state folder is too long for one.",
  FLINT_TOKEN: "The token for `flint connect --url`, if it is not in a file.",
  FLINT_MODEL: "The model of new threads, such as flint/offline.",
  FLINT_MODEL_URL: "Any endpoint that speaks Chat Completions, such as http://127.0.0.1:8080/v1.",
  FLINT_MODEL_KEY: "The key for FLINT_MODEL_URL, if it needs one.",
  FLINT_OFFLINE_SCRIPT: "A file with a script for the offline model to play.",
  ANTHROPIC_API_KEY: "The key for Anthropic's models.",
  ANTHROPIC_BASE_URL: "Where Anthropic's models are, if not at the usual address.",
  OPENAI_API_KEY: "The key for OpenAI's models.",
  OPENAI_BASE_URL: "Where OpenAI's models are, if not at the usual address.",
  OLLAMA_HOST: "Where Ollama answers, if not at 127.0.0.1:11434.",
  CLAUDE_CODE_EXECUTABLE: "The program of Claude Code, if it is not on PATH.",
  CODEX_EXECUTABLE: "The program of Codex, if it is not on PATH.",
  NO_COLOR: "Set to anything: no colours.",
  TERM: "The kind of terminal; `dumb` gets plain lines.",
  LC_ALL: "The language of the terminal; without UTF-8 in it, only plain signs are drawn.",
  LC_CTYPE: "Used when LC_ALL is not set.",
  LANG: "Used when neither LC_ALL nor LC_CTYPE is set.",
  PATH: "Where programs are looked for.",
  SHELL: "Which completions `flint completions` prints when none are named.",
} as const;

/** The name of a variable that Flint reads. */
export type EnvironmentName = keyof typeof ENVIRONMENT;

/** The value of a variable, or undefined if it is not set or empty. */
export function setting(name: EnvironmentName): string | undefined {
  return variable(name);
}

/** The value of a variable that the user's configuration names. */
export function variable(name: string): string | undefined {
  const value = process.env[name];
  return value === "" ? undefined : value;
}

let umaskOfUser: number | undefined;

/** Makes everything that Flint writes private to its user from now on. */
export function keepPrivate(): void {
  const before = process.umask(0o077);
  umaskOfUser ??= before;
}

/** The umask that the user's own commands have. */
export function usersUmask(): number {
  return umaskOfUser ?? process.umask();
}

/** The whole environment, for the commands that agents start. */
export function inheritedEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/** The user's home folder; undefined where there is none, as in some containers. */
export function homeFolder(): string | undefined {
  try {
    return homedir() || undefined;
  } catch {
    // HOME is not set and the system does not know the user.
    return undefined;
  }
}

function inHome(...names: readonly string[]): string {
  const home = homeFolder();
  if (home !== undefined) return join(home, ...names);
  throw new Error("There is no home folder. Set HOME, or FLINT_HOME and FLINT_CONFIG.");
}

/** Where threads are kept. */
export function stateFolder(): string {
  const home = setting("FLINT_HOME");
  // Nothing can be kept there, and Node never gives up trying to make a folder in it.
  if (home !== undefined && /^\/(?:proc|sys)(?:\/|$)/.test(resolve(home))) {
    throw new Error(`FLINT_HOME is ${home}, where no folder can be made. Name one that can be written.`);
  }
  if (home !== undefined) return home;
  return join(setting("XDG_STATE_HOME") ?? inHome(".local", "state"), "flint");
}

/** The folder in a state folder by which the running server is found and entered. No command sees into it. */
export function runFolder(folder: string): string {
  return join(folder, RUN_FILES.folder);
}

/** The file in a state folder that says which server runs for it. */
export function serverFile(folder: string): string {
  return join(folder, RUN_FILES.server);
}

/** The file in a state folder with the token of its server. */
export function tokenFile(folder: string): string {
  return join(folder, RUN_FILES.token);
}

/** The file in a state folder with what a server in the background said since it was started. */
export function logFile(folder: string): string {
  return join(folder, RUN_FILES.log);
}

/** The file in a state folder that says which session each kind of editor had last in which folder. */
export function lastSessionsFile(folder: string): string {
  return join(folder, "editor-sessions.json");
}

/** The user's configuration file, whether it exists or not. */
export function userConfigPath(): string {
  const path = setting("FLINT_CONFIG");
  if (path !== undefined) return path;
  return join(setting("XDG_CONFIG_HOME") ?? inHome(".config"), "flint", "config.toml");
}
