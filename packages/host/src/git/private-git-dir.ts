import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isFolder } from "../files/path-kinds.ts";
import { readRegularBytes } from "../files/regular-file.ts";
import type { Mount } from "../sandbox/mechanisms/confinement.ts";
import type { GitCommand } from "./git-command.ts";
import { alternatesOf, type Repository, type RepositoryState, readState } from "./repository.ts";

/** The largest file that is copied; an index of a million files has about 100 MB. */
const MAX_BYTES = 512 * 1024 * 1024;

/** A git directory of a thread's own, and what the repository looked like when it was made. */
export interface PrivateGitDir {
  readonly repository: Repository;
  readonly base: RepositoryState;
  /** Its folder, outside of the sandbox. */
  readonly folder: string;
  /** In the order they apply. None is inside of another, because agents choose what is in their directory. */
  readonly mounts: readonly Mount[];
}

/** The place and the initial state of a private git directory. */
export interface PrivateGitOptions {
  /** Must not exist. */
  readonly folder: string;
  /** Below which refs of the user's repository commits are kept that were declined. */
  readonly declinedBelow: string;
  /** Tells the repositories of one sandbox apart. */
  readonly number: number;
  /** The configuration that the agent made for itself; that of the repository if not given. */
  readonly config?: string | undefined;
}

/**
 * Makes a git directory that replaces `.git` in the sandbox. Agents add, commit, switch and rebase in it as they like; it
 * reads the objects of the user's repository and writes its own. Nothing that is written there is ever used outside:
 * commits return as from a remote that is not trusted.
 */
export async function makePrivateGitDir(
  git: GitCommand,
  repository: Repository,
  { folder, declinedBelow, number, config }: PrivateGitOptions,
): Promise<PrivateGitDir> {
  const { gitDir, commonDir } = repository;
  const gitFolder = join(folder, "git");
  // Git is the slowest part, and everything that does not depend on it is done meanwhile.
  const state = readState(git, repository, declinedBelow);
  const found = findShown(git, commonDir);
  for (const promise of [state, found]) promise.catch(() => undefined);
  await mkdir(join(gitFolder, "objects", "info"), { recursive: true, mode: 0o700 });
  await Promise.all(
    ["refs/heads", "refs/flint", "info"].map((name) => mkdir(join(gitFolder, name), { recursive: true })),
  );
  const own = ["HEAD", "index", "shallow", "info/sparse-checkout", "config.worktree"];
  const shared = ["info/exclude", "info/attributes", ...(gitDir === commonDir ? [] : ["shallow"])];
  const [shown] = await Promise.all([
    found,
    copyFiles(gitDir, gitFolder, own).then(() => copyFiles(commonDir, gitFolder, shared)),
  ]);
  const seen = seenAt(number);
  const alternates = [seen.objects, ...shown.borrowed.map((_, at) => seen.alternate(at))];
  const first = await privateConfig(repository, shown.hooks === undefined ? undefined : seen.hooks);
  const [base] = await Promise.all([
    state,
    // Kept beside it, to see later whether the agent has changed its own.
    writeFile(join(folder, "config"), first),
    writeFile(join(gitFolder, "config"), config ?? first),
    writeFile(join(gitFolder, "objects", "info", "alternates"), `${alternates.join("\n")}\n`),
    writeFile(join(folder, "pointer"), `gitdir: ${seen.gitDir}\n`),
  ]);
  await writeRefs(gitFolder, base);
  if (base.stash.length > 0) await copyFiles(commonDir, gitFolder, ["logs/refs/stash"]);
  return { repository, base, folder, mounts: mountsOf(repository, shown, { folder, number }) };
}

/**
 * Returns the paths at which the sandbox shows the parts of a repository. Git LFS looks for objects beside a
 * borrowed object folder.
 */
function seenAt(number: number) {
  const at = `/run/flint/${number}`;
  return {
    objects: `${at}/objects`,
    lfs: `${at}/lfs`,
    hooks: `${at}/hooks`,
    gitDir: `${at}/git`,
    alternate: (index: number) => `${at}/alternate-${index}`,
  };
}

/** The parts of a repository that a sandbox shows beside its objects. */
interface Shown {
  /** The folders that it borrows objects from. */
  readonly borrowed: readonly string[];
  readonly hooks: string | undefined;
  readonly hasLfs: boolean;
}

async function findShown(git: GitCommand, commonDir: string): Promise<Shown> {
  const [borrowed, hooks, hasLfs] = await Promise.all([
    alternatesOf(join(commonDir, "objects")),
    hooksOf(git, commonDir),
    isFolder(join(commonDir, "lfs")),
  ]);
  return { borrowed, hooks, hasLfs };
}

/** The mounts that put a private git directory in place that was made before. */
export async function findMounts(
  git: GitCommand,
  repository: Repository,
  options: Pick<PrivateGitOptions, "folder" | "number">,
): Promise<Mount[]> {
  return mountsOf(repository, await findShown(git, repository.commonDir), options);
}

function mountsOf(
  { worktree, commonDir, isLinked }: Repository,
  { borrowed, hooks, hasLfs }: Shown,
  { folder, number }: Pick<PrivateGitOptions, "folder" | "number">,
): Mount[] {
  const seen = seenAt(number);
  const dotGit = join(worktree, ".git");
  const readable = (source: string, target: string): Mount => ({ source, target, writable: false });
  const mounts = [
    readable(join(commonDir, "objects"), seen.objects),
    { source: join(folder, "git"), target: isLinked ? seen.gitDir : dotGit, writable: true },
  ];
  if (isLinked) mounts.push(readable(join(folder, "pointer"), dotGit));
  mounts.push(...borrowed.map((path, at) => readable(path, seen.alternate(at))));
  if (hooks !== undefined) mounts.push(readable(hooks, seen.hooks));
  if (hasLfs) mounts.push(readable(join(commonDir, "lfs"), seen.lfs));
  return mounts;
}

/** The folder of the repository's hooks, if it has any but samples and git looks for them there. */
async function hooksOf(git: GitCommand, commonDir: string): Promise<string | undefined> {
  const folder = join(commonDir, "hooks");
  const entries = (await isFolder(folder)) ? await readdir(folder).catch(() => []) : [];
  if (entries.every((name) => name.endsWith(".sample"))) return undefined;
  // Expected: git cannot read the settings. Then no command of the user works either.
  const settings = await git.settings().catch(() => []);
  return settings.some(({ name }) => name === "core.hookspath") ? undefined : folder;
}

/** The repository's configuration, for a git directory that is elsewhere. The last value of a setting counts. */
async function privateConfig(
  { worktree, commonDir }: Repository,
  hooksPath: string | undefined,
): Promise<string> {
  const content = (await readRegularBytes(join(commonDir, "config"), MAX_BYTES))?.toString("utf8") ?? "";
  const quoted = (value: string) => `"${value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`;
  const hooks = hooksPath === undefined ? "" : `\thooksPath = ${quoted(hooksPath)}\n`;
  // Refs are files in a private directory, however the repository stores its own.
  const storage = /refstorage/i.test(content) ? "[extensions]\n\trefStorage = files\n" : "";
  return `${content}\n[core]\n\tbare = false\n\tworktree = ${quoted(worktree)}\n${hooks}${storage}`;
}

/** All refs in one file, whatever their number. */
async function writeRefs(
  gitFolder: string,
  { refs, symbolicRefs, stash: [stash] }: RepositoryState,
): Promise<void> {
  const all = [...refs, ...(stash === undefined ? [] : [["refs/stash", stash] as const])];
  const rows = all.map(([name, object]) => `${object} ${name}`).sort(byName);
  await writeFile(join(gitFolder, "packed-refs"), ["# pack-refs with: sorted ", ...rows, ""].join("\n"));
  for (const [name, target] of symbolicRefs) {
    const file = join(gitFolder, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `ref: ${target}\n`);
  }
}

/** Git expects the rows in the byte order of their names. */
function byName(left: string, right: string): number {
  const [a, b] = [left, right].map((row) => Buffer.from(row.slice(row.indexOf(" "))));
  return a === undefined || b === undefined ? 0 : Buffer.compare(a, b);
}

async function copyFiles(from: string, to: string, names: readonly string[]): Promise<void> {
  const copy = async (name: string) => {
    const content = await readRegularBytes(join(from, name), MAX_BYTES);
    if (content === undefined) return;
    await mkdir(dirname(join(to, name)), { recursive: true });
    await writeFile(join(to, name), content);
  };
  await Promise.all(names.map(copy));
}
