import { readdir, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { firstLine, readRegularText, UNREADABLE } from "../files/regular-file.ts";
import { type GitSetting, steeringGitConfig } from "./git-settings.ts";

/** The programs and settings that a repository makes git use. */
export interface GitSteering {
  /** The repository's own settings file. */
  readonly config: string;
  readonly settings: readonly GitSetting[];
  /** False if it includes a file that cannot be found or read here as git would, or too many. */
  readonly isComplete: boolean;
  /** The folder of hooks that git runs, with a hook in it; undefined if there is none. */
  readonly hooks: string | undefined;
  /** The folder that the settings name for hooks, whether it is there or not. */
  readonly hooksFolder: string | undefined;
  /** Paths of the files that the settings name, as programs or more settings. Aliases are left out. */
  readonly namedFiles: readonly string[];
}

const MAX_BYTES = 1024 * 1024;
/** More than a path can be long. */
const MAX_LENGTH = 4096;
/** Maximum number of settings files that are read that include each other; git itself follows ten levels. */
const MAX_FILES = 100;
/** Maximum number of folders above the workspace that are searched. */
const MAX_LEVELS = 64;

/** Looks at the repository around a folder, without running git; undefined if there is none. */
export async function gitSteering(cwd: string): Promise<GitSteering | undefined> {
  const found = await findGitDir(cwd);
  if (found === undefined) return undefined;
  const { gitDir, worktree } = found;
  const common = await firstLine(join(gitDir, "commondir"), MAX_LENGTH);
  const commonDir = common === undefined ? gitDir : resolve(gitDir, common);
  const config = join(commonDir, "config");
  const { settings, isComplete, included } = await settingsIn([config, join(gitDir, "config.worktree")]);
  const hooksPath = settings.findLast(({ name }) => name === "core.hookspath")?.value;
  const hooksFolder = hooksPath === undefined ? undefined : resolve(worktree, expand(hooksPath));
  const folder = hooksFolder ?? join(commonDir, "hooks");
  const namedFiles = [...settings.flatMap((setting) => pathsNamedBy(setting, worktree)), ...included];
  const hooks = (await hasHooks(folder)) ? folder : undefined;
  return { config, settings, isComplete, hooks, hooksFolder, namedFiles };
}

/** The paths in the value of a setting, by the words of a command, which git runs at the top of the worktree. */
function pathsNamedBy({ name, value }: GitSetting, worktree: string): string[] {
  if (name.startsWith("alias.") || name === "core.hookspath" || INCLUDE.test(name)) return [];
  const words = value.split(/[\s'"();&|<>=!]+/).filter((word) => word !== "");
  return words.map((word) => resolve(worktree, expand(word)));
}

const INCLUDE = /^include(?:if\..*)?\.path$/;

/** The steering settings of files and of those that they include, each named from the folder of the file that includes it. */
async function settingsIn(
  files: readonly string[],
): Promise<Pick<GitSteering, "settings" | "isComplete"> & { readonly included: readonly string[] }> {
  const settings: GitSetting[] = [];
  const included: string[] = [];
  let isComplete = true;
  const open = [...files];
  for (let read = 0; open.length > 0 && read < MAX_FILES; read += 1) {
    const file = open.shift() ?? "";
    const text = await readRegularText(file, MAX_BYTES);
    // The repository's own files may be missing. An included one may be there by the time that git runs.
    if (text === UNREADABLE || (text === undefined && !files.includes(file))) isComplete = false;
    if (typeof text !== "string") continue;
    const found = steeringGitConfig(text);
    settings.push(...found);
    const values = found.flatMap(({ name, value }) => (INCLUDE.test(name) ? [value] : []));
    if (values.some(isUnclear)) isComplete = false;
    const more = values.map((value) => resolve(dirname(file), expand(value)));
    included.push(...more);
    open.push(...more);
  }
  return { settings, isComplete: isComplete && open.length === 0, included };
}

/**
 * Reports whether a path means something else to git: it is in another user's home or git's own folder, or
 * differs in each process.
 */
function isUnclear(path: string): boolean {
  return /^~[^/]|^%\(|(?:^|\/)proc\//.test(path);
}

function expand(path: string): string {
  return path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
}

async function hasHooks(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.some((name) => !name.endsWith(".sample"));
}

async function findGitDir(cwd: string): Promise<{ gitDir: string; worktree: string } | undefined> {
  let folder = await realpath(cwd).catch(() => cwd);
  for (let level = 0; level < MAX_LEVELS; level += 1) {
    const dotGit = join(folder, ".git");
    const line = await firstLine(dotGit, MAX_LENGTH);
    if (line?.startsWith("gitdir:") === true)
      return { gitDir: resolve(folder, line.slice("gitdir:".length).trim()), worktree: folder };
    if ((await firstLine(join(dotGit, "HEAD"), MAX_LENGTH)) !== undefined)
      return { gitDir: dotGit, worktree: folder };
    if (dirname(folder) === folder) return undefined;
    folder = dirname(folder);
  }
  return undefined;
}
