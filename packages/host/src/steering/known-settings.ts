import { stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { firstLine } from "../files/regular-file.ts";
import type { ScopedGitSetting } from "./git-settings.ts";

/** Prints what `KnownSettings` reads. Git itself says what is set, because it alone knows which files are included. */
export const LIST_SETTINGS = ["config", "--list", "-z", "--show-scope", "--show-origin"] as const;

/** The result of a git process. */
interface Listing {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** All settings that count for a git command. */
export interface SettingsList {
  readonly settings: readonly ScopedGitSetting[];
  /** The result of git if it failed to list them. */
  readonly failed?: Listing | undefined;
}

/** A setting, and where git has read it. */
interface PlacedSetting extends ScopedGitSetting {
  readonly origin: string;
}

interface Known {
  /** The files that the settings depend on, with their identities. */
  readonly files: ReadonlyMap<string, string>;
  readonly list: SettingsList;
}

/** The number of lists that are remembered. */
const MAX_KNOWN = 200;

/** A file that changed so shortly before could change again without another time. */
const SETTLED_NS = 50_000_000n;
/** The same where a file system counts whole seconds. */
const SETTLED_SECONDS_NS = 2_000_000_000n;
const SECOND_NS = 1_000_000_000n;

/**
 * Remembers what git says is set, for as long as every file that it depends on is the same by its inode, size and times:
 * asking git costs a process for each command. Nothing is remembered where that cannot be said for certain, such as outside
 * of the top of a worktree, or where the repository includes other files.
 */
export class KnownSettings {
  readonly #known = new Map<string, Known>();

  /** The settings for git in this folder with these variables; `ask` runs git to list them. */
  async list(cwd: string, env: NodeJS.ProcessEnv, ask: () => Promise<Listing>): Promise<SettingsList> {
    const key = keyOf(cwd, env);
    const known = this.#known.get(key);
    if (known !== undefined && (await isSame(known.files))) return known.list;
    this.#known.delete(key);
    const start = BigInt(Date.now()) * 1_000_000n;
    const files = await repositoryFiles(cwd, env);
    const before = files === undefined ? undefined : await identities([...files, ...ownFiles(env)]);
    const printed = await ask();
    if (printed.exitCode !== 0) return { settings: [], failed: printed };
    const settings = placedSettings(printed.stdout);
    const list = { settings };
    const read = filesOf(settings, env);
    if (before === undefined || read === undefined || !isFrom(settings, cwd, before)) return list;
    const after = await identities([...before.keys(), ...read], start);
    const isUnchanged =
      after !== undefined && [...before].every(([file, found]) => after.get(file) === found);
    if (isUnchanged) this.#remember(key, { files: after, list });
    return list;
  }

  #remember(key: string, known: Known): void {
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size >= MAX_KNOWN) this.#known.delete(oldest);
    this.#known.set(key, known);
  }
}

/** Variables that say nothing about where git finds its settings. */
const UNRELATED = /^GIT_(?:AUTHOR_|COMMITTER_|ALTERNATE_OBJECT_DIRECTORIES$|ALLOW_PROTOCOL$|INDEX_FILE$)/;

function keyOf(cwd: string, env: NodeJS.ProcessEnv): string {
  const related = Object.entries(env).filter(
    ([name]) =>
      ["HOME", "XDG_CONFIG_HOME", "PATH"].includes(name) ||
      (name.startsWith("GIT_") && !UNRELATED.test(name)),
  );
  return JSON.stringify([cwd, related.sort(([left], [right]) => (left < right ? -1 : 1))]);
}

/**
 * Returns the files that determine which repository git finds, and the files of its settings; undefined if
 * git would have to search for it.
 */
async function repositoryFiles(cwd: string, { GIT_DIR }: NodeJS.ProcessEnv): Promise<string[] | undefined> {
  const dotGit = join(cwd, ".git");
  const gitDir = GIT_DIR ?? (await gitDirAt(dotGit));
  if (gitDir === undefined || !isAbsolute(gitDir)) return undefined;
  const common = await firstLine(join(gitDir, "commondir"), 4096);
  const commonDir = common === undefined ? gitDir : resolve(gitDir, common);
  const files = [join(gitDir, "commondir"), join(commonDir, "config"), join(gitDir, "config.worktree")];
  if (GIT_DIR !== undefined) return files;
  // A git directory is none without these, and git continues searching.
  const parts = [join(gitDir, "HEAD"), join(commonDir, "objects"), join(commonDir, "refs")];
  return [dotGit, gitDir, ...parts, ...files];
}

async function gitDirAt(dotGit: string): Promise<string | undefined> {
  // Expected: there is none.
  const found = await stat(dotGit).catch(() => undefined);
  if (found?.isDirectory() === true) return dotGit;
  const [, path] = /^gitdir: (.+)$/.exec((await firstLine(dotGit, 4096)) ?? "") ?? [];
  return path === undefined ? undefined : resolve(dirname(dotGit), path);
}

/** Returns the paths at which settings of the user and of the machine may still appear. */
function ownFiles(env: NodeJS.ProcessEnv): string[] {
  const { HOME = "/", XDG_CONFIG_HOME = join(HOME, ".config") } = env;
  const own = [join(HOME, ".gitconfig"), join(XDG_CONFIG_HOME, "git", "config"), "/etc/gitconfig"];
  return [...own, ...[env.GIT_CONFIG_GLOBAL, env.GIT_CONFIG_SYSTEM].filter((path) => path !== undefined)];
}

/**
 * Reports whether all settings of the repository come from these files, so that git has found it at the
 * expected place.
 */
function isFrom(
  settings: readonly PlacedSetting[],
  cwd: string,
  files: ReadonlyMap<string, string>,
): boolean {
  const origins = settings.filter(({ isOwn }) => !isOwn).map(fileOf);
  const isTracked = (file: string | undefined) => file !== undefined && files.has(resolve(cwd, file));
  return origins.length > 0 && origins.every(isTracked);
}

/** The user's own files that settings come from; undefined if other settings could count without a change of a file. */
function filesOf(
  settings: readonly PlacedSetting[],
  { HOME = "/" }: NodeJS.ProcessEnv,
): string[] | undefined {
  const files: string[] = [];
  for (const setting of settings) {
    const { name, value, isOwn } = setting;
    const file = fileOf(setting);
    const isInclude = /^include(?:if\..*)?\.path$/.test(name);
    if (!isOwn && isInclude) return undefined;
    if (!isOwn) continue;
    if (file === undefined || !isAbsolute(file)) return undefined;
    files.push(file);
    // Which branch is checked out, and what these stand for, is more than a path says.
    if (isInclude && (/^includeif\.onbranch:/.test(name) || /^~[^/]|^%\(/.test(value))) return undefined;
    if (isInclude) files.push(resolve(dirname(file), value.replace(/^~(?=\/)/, HOME)));
  }
  return files;
}

function fileOf({ origin }: PlacedSetting): string | undefined {
  return origin.startsWith("file:") ? origin.slice("file:".length) : undefined;
}

/**
 * Returns the identities of files, by their paths. With a moment, undefined if one of them has changed
 * shortly before it or since.
 */
async function identities(
  paths: readonly string[],
  settledBefore?: bigint,
): Promise<Map<string, string> | undefined> {
  const unique = [...new Set(paths)];
  // Expected: many of them do not exist.
  const found = await Promise.all(unique.map((path) => stat(path, { bigint: true }).catch(() => undefined)));
  const isSettled = (changed: bigint, moment: bigint) =>
    changed + (changed % SECOND_NS === 0n ? SETTLED_SECONDS_NS : SETTLED_NS) < moment;
  const isRecent = found.some(
    (each) =>
      settledBefore !== undefined && each?.isDirectory() === false && !isSettled(each.ctimeNs, settledBefore),
  );
  if (isRecent) return undefined;
  return new Map(
    unique.map((path, at) => {
      const each = found[at];
      if (each === undefined) return [path, "missing"];
      const { dev, ino, size, mtimeNs, ctimeNs } = each;
      // A folder changes with every file in it.
      return [path, each.isDirectory() ? `${dev} ${ino}` : `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`];
    }),
  );
}

async function isSame(files: ReadonlyMap<string, string>): Promise<boolean> {
  const now = await identities([...files.keys()]);
  return now !== undefined && [...files].every(([file, found]) => now.get(file) === found);
}

/** The settings that git has printed. */
function placedSettings(printed: string): PlacedSetting[] {
  const fields = printed.split("\0");
  const settings: PlacedSetting[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [scope = "", origin = "", entry = ""] = fields.slice(at, at + 3);
    const [name = "", ...value] = entry.split("\n");
    const isOwn = scope === "system" || scope === "global";
    settings.push({ name, value: value.length === 0 ? "true" : value.join("\n"), isOwn, origin });
  }
  return settings;
}
