import { lstat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { plainText } from "@flint/host/files";
import type { ThreadSettings } from "@flint/protocol";
import type { AgentProgram } from "../../shared/agent.ts";

/** Where Claude keeps its login, which it renews from time to time. */
export const LOGIN_FILE = ".credentials.json";

/** The environment of Claude, on its own models or on the offline model. */
export function claudeEnvironment(
  { environment }: AgentProgram,
  offline: { readonly url: string; readonly folder: string } | undefined,
): Readonly<Record<string, string>> {
  const own = {
    ...environment,
    DISABLE_AUTOUPDATER: "1",
    // Set if Claude itself started Flint; Claude refuses to run inside itself.
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

/** The names of instruction files; only the first one in a folder counts. */
const NAMES = ["CLAUDE.md", "AGENTS.md"];

const MOST_BYTES = 32 * 1024;

/** No folder lies deeper than this. */
const LEVELS = 64;

/**
 * What is appended to Claude's system prompt: the instruction files of the repository and those of the thread. Claude
 * itself reads no files of the workspace at its start, because settings and hooks are among them.
 */
export async function claudeInstructions({ cwd, developerInstructions }: ThreadSettings): Promise<string> {
  const folders = await foldersUpToRoot(cwd);
  const found = await Promise.all(folders.map(instructionsIn));
  const project = found.toReversed().filter((text) => text !== undefined);
  return [...project, ...(developerInstructions === undefined ? [] : [developerInstructions])].join("\n\n");
}

async function instructionsIn(folder: string): Promise<string | undefined> {
  for (const name of NAMES) {
    const path = join(folder, name);
    // A link could lead to a file that the model must not see.
    const text = (await isLink(path)) ? undefined : await plainText(path, MOST_BYTES);
    if (typeof text === "string") return `What ${path} says about work in this project:\n\n${text}`;
  }
  return undefined;
}

/** The workspace and the folders above it up to the one with `.git`; the workspace alone if there is none. */
async function foldersUpToRoot(cwd: string): Promise<string[]> {
  const folders: string[] = [];
  for (let folder = cwd; folders.length < LEVELS; folder = dirname(folder)) {
    folders.push(folder);
    if (await exists(join(folder, ".git"))) return folders;
    if (dirname(folder) === folder) break;
  }
  return [cwd];
}

function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
