import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { AgentProgram } from "../../shared/agent-options.ts";

/**
 * Where Claude keeps what it needs from one step to the next. Its settings, commands, agents and plugins are beside
 * these and are not among them: whoever may write those decides what runs later, outside of any sandbox.
 */
const STATE_FOLDERS = [
  ...["projects", "sessions", "session-env", "shell-snapshots", "file-history"],
  ...["todos", "tasks", "plans", "debug"],
];

/** Where Claude keeps its login, which it renews from time to time. */
export const LOGIN_FILE = ".credentials.json";

/** The environment in which Claude is started, on a model of its own or on the offline one. */
export function claudeEnvironment(
  { environment }: AgentProgram,
  offline: { readonly url: string; readonly folder: string } | undefined,
): Readonly<Record<string, string>> {
  const own = {
    ...environment,
    DISABLE_AUTOUPDATER: "1",
    // Set where Flint itself was started by Claude, which then takes the inner one for a mistake.
    CLAUDECODE: "",
  };
  if (offline === undefined) return own;
  return {
    ...own,
    ANTHROPIC_BASE_URL: offline.url,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CONFIG_DIR: offline.folder,
  };
}

/** Claude's own folder. */
export function configFolder(environment: Readonly<Record<string, string>>, home: string): string {
  return environment.CLAUDE_CONFIG_DIR || join(home, ".claude");
}

/** What Claude has to be able to write whatever its policy says; the folders are made if need be. */
export async function ownPaths(folder: string): Promise<readonly string[]> {
  const folders = STATE_FOLDERS.map((name) => join(folder, name));
  await Promise.all(folders.map((path) => mkdir(path, { recursive: true, mode: 0o700 })));
  return [...folders, join(folder, LOGIN_FILE)];
}
