import type { Stats } from "node:fs";
import { chmod, lstat, mkdir, readdir, readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { errorMessage, FlintError, isPathIn } from "@flint/protocol";
import { isSocket } from "../../files/path-kinds.ts";

/** The locations of Flint's own state and settings. */
export interface GuardedLocations {
  /** Folders that must not be written. */
  readonly folders?: readonly string[];
  /** Files that must not be written, together with their folder unless commands work in that very folder. */
  readonly files?: readonly string[];
  /** Files that must not be written, in folders that may be. */
  readonly lockedFiles?: readonly string[];
  /** Folders that commands see empty, because their content would let them act as the user. */
  readonly hidden?: readonly string[];
  /**
   * Sockets of this server, which no command in a sandbox can connect to, wherever they are. The same holds for those
   * that other Flint servers have announced.
   */
  readonly sockets?: readonly string[];
}

/** The protection of the guarded locations. */
export interface GuardedSet {
  /** Paths that must always be read-only. */
  readonly paths: readonly string[];
  /** Paths that may be written but not moved, because they contain a guarded location. */
  readonly pins: readonly string[];
  /** The real paths of existing sockets of Flint servers. */
  readonly sockets: readonly string[];
}

/** Protects Flint's own files from commands, which could otherwise grant themselves rights. */
export class GuardedPaths {
  readonly #locations: GuardedLocations;
  readonly #otherSockets: () => Promise<readonly string[]>;

  /** `otherSockets` lists those of other servers, for each command again. */
  constructor(locations: GuardedLocations, otherSockets: () => Promise<readonly string[]> = async () => []) {
    this.#locations = locations;
    this.#otherSockets = otherSockets;
  }

  /**
   * Returns the paths to protect in the roots of a command and in a program's own paths, which are real
   * paths. Creates guarded folders that are missing there. Rejects with `sandboxUnavailable` if something
   * cannot be protected.
   */
  async within(roots: readonly string[], own: readonly string[] = []): Promise<GuardedSet> {
    const { folders = [], files = [], lockedFiles = [], sockets = [] } = this.#locations;
    const search = new Search(roots, own);
    for (const socket of [...sockets, ...(await this.#otherSockets())]) await search.addSocket(socket);
    if (roots.length + own.length === 0) return search.found();
    for (const folder of folders) await search.addFolder(folder);
    for (const file of files) await search.addFile(file);
    for (const file of lockedFiles) await search.addLockedFile(file);
    return search.found();
  }

  /** Reports whether a real path is one of the guarded locations, or inside of one. */
  async contains(path: string): Promise<boolean> {
    const { folders = [], files = [], hidden = [], sockets = [] } = this.#locations;
    const all = [...folders, ...files.map((file) => dirname(file)), ...hidden, ...sockets];
    const real = await Promise.all(all.map((each) => realpath(each).catch(() => resolve(each))));
    return real.some((location) => isPathIn(path, location));
  }

  /**
   * The real paths of the folders to hide. They are created here, because one created later would be visible to programs
   * that run by then. Where that is not possible, no secret can be put there either.
   */
  async hidden(): Promise<readonly string[]> {
    const found = (this.#locations.hidden ?? []).map(async (folder) => {
      await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined);
      await chmod(folder, 0o700).catch(() => undefined);
      return realpath(folder).catch(() => undefined);
    });
    return (await Promise.all(found)).filter((folder) => folder !== undefined);
  }
}

class Search {
  readonly #roots: readonly string[];
  readonly #writable: readonly string[];
  readonly #paths = new Set<string>();
  readonly #pins = new Set<string>();
  readonly #sockets = new Set<string>();

  constructor(roots: readonly string[], own: readonly string[]) {
    this.#roots = roots;
    this.#writable = [...roots, ...own];
  }

  found(): GuardedSet {
    const pins = [...this.#pins].filter((path) => !this.#paths.has(path));
    return { paths: [...this.#paths], pins, sockets: [...this.#sockets] };
  }

  async addFolder(folder: string): Promise<void> {
    const resolved = await resolvePath(folder, this.#isWritable, "create");
    if (resolved !== undefined) await this.#guardFolder(resolved);
  }

  async addFile(file: string): Promise<void> {
    const resolved = await resolvePath(dirname(file), this.#isWritable, "create");
    if (resolved === undefined) return;
    if (!this.#roots.includes(resolved.path)) return this.#guardFolder(resolved);
    this.#guard(await resolvePath(join(resolved.path, basename(file)), this.#isWritable, "reject"));
  }

  async addLockedFile(file: string): Promise<void> {
    this.#guard(await resolvePath(file, this.#isWritable, "reject"));
  }

  /** Pins the folders on the way, because the next command would find the socket uncovered in a folder that was moved. */
  async addSocket(socket: string): Promise<void> {
    // Expected: it is gone. Commands cannot remove what is covered.
    if (!(await isSocket(socket))) return;
    const resolved = await resolvePath(socket, this.#isWritable, "reject").catch(async (error: unknown) => {
      // It may also vanish while its path is resolved.
      if (await isSocket(socket)) throw error;
      return undefined;
    });
    if (resolved === undefined) return;
    this.#sockets.add(resolved.path);
    for (const step of resolved.steps) if (step !== resolved.path) this.#pins.add(step);
  }

  /** A link in a guarded folder cannot be replaced, but its target may be writable. */
  async #guardFolder(resolved: ResolvedPath): Promise<void> {
    this.#guard(resolved);
    const entries = await readdir(resolved.path, { withFileTypes: true }).catch(() => []);
    for (const link of entries.filter((entry) => entry.isSymbolicLink())) {
      this.#guard(await resolvePath(join(resolved.path, link.name), this.#isWritable, "reject"));
    }
  }

  #guard(resolved: ResolvedPath | undefined): void {
    if (resolved === undefined) return;
    if (this.#writable.some((folder) => isPathIn(resolved.path, folder))) this.#paths.add(resolved.path);
    for (const step of resolved.steps) this.#pins.add(step);
  }

  /** A writable folder counts even inside of a guarded one, because it was listed on purpose. */
  readonly #isWritable = (folder: string): boolean =>
    this.#writable.some(
      (open) =>
        isPathIn(folder, open) &&
        ![...this.#paths].some((path) => isPathIn(folder, path) && isPathIn(path, open)),
    );
}

/** As many links as the kernel follows. */
const MAX_LINKS = 40;

/** A path with everything on the way that a command could move. */
interface ResolvedPath {
  /** The real path. */
  readonly path: string;
  /** The folders on the way, and the path itself, that are in a writable folder and so could be moved. */
  readonly steps: readonly string[];
}

/** Reports whether commands may write directly in a folder. */
type IsWritable = (folder: string) => boolean;

/** The treatment of a missing name in a writable folder: a folder is created, or the command is rejected. */
type IfMissing = "create" | "reject";

/**
 * Resolves a path name by name. Undefined if nothing is there and no command could create it. Rejects with
 * `sandboxUnavailable` if a command could redirect the path, because no mount prevents that.
 */
async function resolvePath(
  path: string,
  isWritable: IsWritable,
  ifMissing: IfMissing,
): Promise<ResolvedPath | undefined> {
  const steps: string[] = [];
  let at: string = sep;
  let names = namesOf(resolve(path));
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const next = join(at, name);
    const isMovable = name !== ".." && isWritable(at);
    const found = await statOrCreate(next, isMovable, ifMissing);
    if (found === undefined) return undefined;
    if (found.isSymbolicLink()) {
      links += 1;
      if (isMovable) throw cannotGuard(next, "it is a link, which the command could replace");
      if (links > MAX_LINKS) throw cannotGuard(next, "its links form a loop");
      const target = await readlink(next);
      if (isAbsolute(target)) at = sep;
      names = [...namesOf(target), ...names];
    } else {
      at = next;
      if (isMovable) steps.push(next);
    }
  }
  return { path: at, steps };
}

function namesOf(path: string): string[] {
  return path.split(sep).filter((name) => name !== "" && name !== ".");
}

async function statOrCreate(
  path: string,
  isMovable: boolean,
  ifMissing: IfMissing,
): Promise<Stats | undefined> {
  // Expected: nothing is there, or it is not accessible. In a folder that no command can write, nothing can be created.
  try {
    return await lstat(path);
  } catch (thrown) {
    if (!isMovable) return undefined;
    if (codeOf(thrown) !== "ENOENT") throw cannotGuard(path, errorMessage(thrown));
    if (ifMissing === "reject") throw cannotGuard(path, "it does not exist, and the command could create it");
    return create(path);
  }
}

/** Only what exists can be mounted over. It is never removed, because other commands may rely on it. */
async function create(path: string): Promise<Stats | undefined> {
  // Expected: it was created in this instant, or it cannot be created by anyone.
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === "EROFS" || ((code === "EACCES" || code === "EPERM") && !(await isOurs(dirname(path)))))
      return undefined;
    if (code !== "EEXIST") throw cannotGuard(path, errorMessage(thrown));
  }
  return lstat(path);
}

/** The owner of a folder can make it writable. */
async function isOurs(folder: string): Promise<boolean> {
  return (await lstat(folder)).uid === process.getuid?.();
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
}

function cannotGuard(path: string, reason: string): FlintError {
  const message = `Did not run the command: ${path} leads to Flint's own state or settings and cannot be protected from it, because ${reason}. Replace it by what it links to, work in a folder that does not contain it, or choose --sandbox read-only (readOnly).`;
  return new FlintError("sandboxUnavailable", message, { path });
}
