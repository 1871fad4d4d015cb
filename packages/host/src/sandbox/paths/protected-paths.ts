import { lstat, readdir, realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Clock } from "@flint/core/ports";
import { isPathIn } from "@flint/protocol";
import { firstLine } from "../../files/regular-file.ts";
import { gitSteering } from "../../steering/index.ts";
import { type PlaceholderLease, Placeholders } from "./placeholders.ts";
import { ReservedNames } from "./reserved-names.ts";

/** The paths that are protected while a command runs, until they are released. */
export interface ProtectedLease extends PlaceholderLease {
  /** The folders around protected paths that must not be moved away with them. */
  readonly pins: readonly string[];
}

/** Finds or creates everything in writable folders that must not be written while a command runs. */
export class ProtectedPaths {
  readonly #placeholders: Placeholders;
  readonly #repositories: Repositories;

  /** `homes` are folders whose start-up files are read, beside the home folders of this machine. */
  constructor(clock: Clock, homes: readonly string[] = []) {
    this.#placeholders = new Placeholders(new ReservedNames(homes));
    this.#repositories = new Repositories(clock);
  }

  /** Rejects with `sandboxUnavailable` if something cannot be protected. */
  async acquire(roots: readonly string[]): Promise<ProtectedLease> {
    const attempts = await Promise.allSettled(roots.map((root) => this.#placeholders.acquire(root)));
    const leases = attempts.flatMap((attempt) => (attempt.status === "fulfilled" ? [attempt.value] : []));
    const release = async () => void (await Promise.all(leases.map((lease) => lease.release())));
    const failure = attempts.find((attempt) => attempt.status === "rejected");
    if (failure !== undefined) {
      await release();
      throw failure.reason;
    }
    const nested = await Promise.all(roots.map((root) => this.#repositories.gitFolders(root)));
    const names = [...leases.flatMap((lease) => lease.paths), ...nested.flat()];
    const steering = (await Promise.all(roots.map(steeringPaths))).flat();
    const others = steering.filter(({ path }) => !names.some((name) => isPathIn(path, name)));
    const pins = [...new Set(others.flatMap(({ path, root }) => foldersBetween(path, root)))];
    return { paths: [...names, ...others.map(({ path }) => path)], pins, release };
  }
}

/**
 * Returns the files that git runs outside because its settings name them, and the folder of hooks, as far as
 * they are in a root. Only of the repository around the root, and only existing ones.
 */
async function steeringPaths(root: string): Promise<{ path: string; root: string }[]> {
  const steering = await gitSteering(root);
  const { namedFiles = [], hooksFolder } = steering ?? {};
  const candidates = [
    ...namedFiles.map((path) => ({ path, isFolder: false })),
    ...(hooksFolder === undefined ? [] : [{ path: hooksFolder, isFolder: true }]),
  ];
  const found = candidates.map(async ({ path, isFolder }) => {
    // Expected: most words of a command are no paths.
    const real = await realpath(path).catch(() => undefined);
    const entry = real === undefined ? undefined : await lstat(real).catch(() => undefined);
    if (real === undefined || real === root || !isPathIn(real, root)) return [];
    return (isFolder ? entry?.isDirectory() : entry?.isFile()) === true ? [{ path: real, root }] : [];
  });
  return (await Promise.all(found)).flat();
}

/** The folders on the way from a root to what is in it, without both. */
function foldersBetween(path: string, root: string): string[] {
  const folder = dirname(path);
  return folder === root || !isPathIn(folder, root) ? [] : [...foldersBetween(folder, root), folder];
}

/**
 * Depth and number of workspace folders that are searched for repositories, and the time for which the result
 * is cached.
 */
const DEPTH = 3;
const MAX_FOLDERS = 300;
const CACHE_MS = 10_000;

/** More than a path can be long. */
const MAX_LENGTH = 4096;

/** Folders full of packages, which are not repositories. */
const SKIPPED: ReadonlySet<string> = new Set(["node_modules", "target", "dist", "build", "venv"]);

/** Finds git folders in a workspace beside the `.git` at its top. */
export class Repositories {
  readonly #clock: Clock;
  readonly #cache = new Map<string, { readonly until: number; readonly paths: Promise<string[]> }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The `.git` of every repository in a folder, up to a depth, and the folders that such files point to. */
  async gitFolders(root: string): Promise<readonly string[]> {
    const cached = this.#cache.get(root);
    // A path that was removed since cannot be mounted.
    if (cached !== undefined && this.#clock.now() < cached.until) return existing(await cached.paths);
    const paths = search(root);
    this.#cache.set(root, { until: this.#clock.now() + CACHE_MS, paths });
    return paths;
  }
}

async function existing(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map((path) =>
      lstat(path).then(
        () => true,
        (error: NodeJS.ErrnoException) => error.code !== "ENOENT" && error.code !== "ENOTDIR",
      ),
    ),
  );
  return paths.filter((_, at) => found[at]);
}

async function search(root: string): Promise<string[]> {
  const found = await gitFoldersOf(join(root, ".git"));
  let folders = [root];
  let looked = 0;
  for (let depth = 0; depth <= DEPTH && looked < MAX_FOLDERS; depth += 1) {
    const next = folders.slice(0, MAX_FOLDERS - looked);
    looked += next.length;
    const inner = (await Promise.all(next.map(foldersIn))).flat();
    for (const folder of inner.filter(({ name }) => name === ".git")) {
      found.push(folder.path, ...(await gitFoldersOf(folder.path)));
    }
    folders = inner.filter(({ name }) => !name.startsWith(".") && !SKIPPED.has(name)).map(({ path }) => path);
  }
  return found;
}

/** The subfolders of a folder, and its `.git` file; links are left out. */
async function foldersIn(folder: string): Promise<{ name: string; path: string }[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() || (entry.isFile() && entry.name === ".git"))
    .map(({ name }) => ({ name, path: join(folder, name) }));
}

/** The folder that the `.git` file of a worktree or submodule points to, and the common folder that one names. */
async function gitFoldersOf(git: string): Promise<string[]> {
  const line = await firstLine(git, MAX_LENGTH);
  const named = line?.startsWith("gitdir:") === true ? line.slice("gitdir:".length).trim() : undefined;
  if (named === undefined || named === "") return [];
  const folder = await realpath(resolve(dirname(git), named)).catch(() => undefined);
  if (folder === undefined) return [];
  const common = await firstLine(join(folder, "commondir"), MAX_LENGTH);
  const shared =
    common === undefined ? undefined : await realpath(resolve(folder, common)).catch(() => undefined);
  return shared === undefined ? [folder] : [folder, shared];
}
