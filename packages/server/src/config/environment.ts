import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { RUN_FILES } from "@flint/protocol";

/** Every environment variable that Flint reads. No other file of Flint reads the environment. */
export const ENVIRONMENT = {
  FLINT_HOME: "Folder for threads and rules. Default: $XDG_STATE_HOME/flint, else ~/.local/state/flint.",
  XDG_STATE_HOME: "Base folder for state; used if FLINT_HOME is not set.",
  FLINT_CONFIG:
    "Your configuration file. Default: $XDG_CONFIG_HOME/flint/config.toml, else ~/.config/flint/config.toml.",
  XDG_CONFIG_HOME: "Base folder for configuration; used if FLINT_CONFIG is not set.",
  XDG_RUNTIME_DIR: "Folder for the server's socket if the path of the state folder is too long for a socket.",
  FLINT_TOKEN: "Token for `flint connect --url`.",
  FLINT_MODEL: "Model for new threads, such as flint/offline.",
  FLINT_MODEL_URL: "Chat Completions endpoint, such as http://127.0.0.1:8080/v1.",
  FLINT_MODEL_KEY: "API key for FLINT_MODEL_URL.",
  FLINT_OFFLINE_SCRIPT: "Script for the offline model to play.",
  ANTHROPIC_API_KEY: "API key for Anthropic's models.",
  ANTHROPIC_BASE_URL: "Base URL of Anthropic's API, if not the default.",
  OPENAI_API_KEY: "API key for OpenAI's models.",
  OPENAI_BASE_URL: "Base URL of OpenAI's API, if not the default.",
  OLLAMA_HOST: "Address of Ollama. Default: 127.0.0.1:11434.",
  CLAUDE_CODE_EXECUTABLE: "Path of Claude Code, if it is not on PATH.",
  CODEX_EXECUTABLE: "Path of Codex, if it is not on PATH.",
  NO_COLOR: "If set, output has no colours.",
  FORCE_HYPERLINK:
    "Whether terminal sessions write links that can be clicked: 1 or 0. By default where they are known to work.",
  TERM: "Terminal type; with `dumb`, output is plain lines.",
  TERM_PROGRAM: "Name of the terminal; tells whether links can be clicked.",
  VTE_VERSION: "Version of terminals such as GNOME Terminal; same use.",
  KONSOLE_VERSION: "Version of Konsole; same use.",
  WT_SESSION: "Set by Windows Terminal; same use.",
  TMUX: "Set inside of tmux, where links are not written.",
  STY: "Set inside of screen, where links are not written.",
  LC_ALL: "Locale; without UTF-8, only ASCII characters are drawn.",
  LC_CTYPE: "Used if LC_ALL is not set.",
  LANG: "Used if neither LC_ALL nor LC_CTYPE is set.",
  PATH: "Where to look for programs.",
  VISUAL: "Editor for prompts in a terminal session (Ctrl-G).",
  EDITOR: "Used if VISUAL is not set.",
  SHELL: "Shell for `flint completions` if none is given.",
} as const;

/** The name of an environment variable that Flint reads. */
export type EnvironmentName = keyof typeof ENVIRONMENT;

/** The value of a variable; undefined if it is unset or empty. */
export function setting(name: EnvironmentName): string | undefined {
  return variable(name);
}

/** The value of a variable that the user's configuration refers to. */
export function variable(name: string): string | undefined {
  const value = process.env[name];
  return value === "" ? undefined : value;
}

let umaskOfUser: number | undefined;

/** Makes every file that this process creates private to its user. */
export function usePrivateUmask(): void {
  const before = process.umask(0o077);
  umaskOfUser ??= before;
}

/** The user's original umask, for the commands that agents run. */
export function usersUmask(): number {
  return umaskOfUser ?? process.umask();
}

/** The whole environment, for the commands that agents run. */
export function inheritedEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/** The user's home folder; undefined if there is none, as in some containers. */
export function homeFolder(): string | undefined {
  try {
    return homedir() || undefined;
  } catch {
    // HOME is not set and the system does not know the user.
    return undefined;
  }
}

/** A path that the user may have written with `~/`; as it is if there is no home folder. */
export function expandHome(path: string): string {
  const home = homeFolder();
  return home !== undefined && path.startsWith("~/") ? join(home, path.slice(2)) : path;
}

function inHome(...names: readonly string[]): string {
  const home = homeFolder();
  if (home !== undefined) return join(home, ...names);
  throw new Error("No home folder found. Set HOME, or FLINT_HOME and FLINT_CONFIG.");
}

/** The folder for threads, rules and the state of the server. */
export function stateFolder(): string {
  const home = setting("FLINT_HOME");
  // Node retries forever to create a folder there.
  if (home !== undefined && /^\/(?:proc|sys)(?:\/|$)/.test(resolve(home))) {
    throw new Error(`FLINT_HOME is ${home}, where no folder can be created. Set it to a writable folder.`);
  }
  if (home !== undefined) return home;
  return join(setting("XDG_STATE_HOME") ?? inHome(".local", "state"), "flint");
}

/** The subfolder of a state folder with the running server's socket. Hidden from sandboxed commands. */
export function runFolder(folder: string): string {
  return join(folder, RUN_FILES.folder);
}

/** The file in a state folder that describes its running server. */
export function serverFile(folder: string): string {
  return join(folder, RUN_FILES.server);
}

/** The file in a state folder with the server's token. */
export function tokenFile(folder: string): string {
  return join(folder, RUN_FILES.token);
}

/** The file in a state folder with the tokens that allow only some rights. */
export function limitedTokensFile(folder: string): string {
  return join(folder, RUN_FILES.limitedTokens);
}

/** The log of a state folder's background server. */
export function logFile(folder: string): string {
  return join(folder, RUN_FILES.log);
}

/** The file in a state folder with the last session of each editor in each folder. */
export function lastSessionsFile(folder: string): string {
  return join(folder, "editor-sessions.json");
}

/** The path of the user's configuration file, which may not exist. */
export function userConfigPath(): string {
  const path = setting("FLINT_CONFIG");
  if (path !== undefined) return path;
  return join(setting("XDG_CONFIG_HOME") ?? inHome(".config"), "flint", "config.toml");
}
