import { chmod, lstat, mkdir, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isInside } from "../mechanisms/confinement.ts";
import { type Way, wayTo } from "./resolve-path.ts";

/** Where Flint keeps what decides about commands. */
export interface GuardedPlaces {
  /** Folders of which nothing may be written. */
  readonly folders?: readonly string[];
  /** Files likewise, with all that lies beside them; if commands work in that very folder, with nothing beside them. */
  readonly files?: readonly string[];
  /** Folders that commands do not see into, because what lies there lets whoever reads it act as the user. */
  readonly hidden?: readonly string[];
  /**
   * Sockets that this server listens at. Nobody connects to them from a sandbox, wherever they lie; the same holds for
   * those that other Flint servers have signed.
   */
  readonly sockets?: readonly string[];
}

/** What keeps the guarded places as they are. */
export interface Firm {
  /** What must not be written, whoever lists it. */
  readonly paths: readonly string[];
  /** What may be written but must stay where it is, because a guarded place lies in it. */
  readonly pins: readonly string[];
  /** The sockets of Flint servers that are there, free of links. */
  readonly sockets: readonly string[];
}

/** Flint's own files, which no command may write: it would decide itself what it may. */
export class GuardedPaths {
  readonly #places: GuardedPlaces;
  readonly #otherSockets: () => Promise<readonly string[]>;

  /** `otherSockets` lists those of other servers, anew for each command. */
  constructor(places: GuardedPlaces, otherSockets: () => Promise<readonly string[]> = async () => []) {
    this.#places = places;
    this.#otherSockets = otherSockets;
  }

  /**
   * What has to be protected in the folders that a command works in, and in what is a program's own; both come without
   * links. Makes the guarded folders that are missing there. Rejects with `sandboxUnavailable` if something cannot be
   * protected.
   */
  async within(roots: readonly string[], own: readonly string[] = []): Promise<Firm> {
    const { folders = [], files = [], sockets = [] } = this.#places;
    const search = new Search(roots, own);
    for (const socket of [...sockets, ...(await this.#otherSockets())]) await search.addSocket(socket);
    if (roots.length + own.length === 0) return search.found();
    for (const folder of folders) await search.addFolder(folder);
    for (const file of files) await search.addFile(file);
    return search.found();
  }

  /**
   * The folders to be hidden, free of links. They are made here: one that came to be later would be seen by programs
   * that run by then. Where that cannot be done, nobody else can put a secret there either.
   */
  async hidden(): Promise<readonly string[]> {
    const found = (this.#places.hidden ?? []).map(async (folder) => {
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

  found(): Firm {
    const pins = [...this.#pins].filter((path) => !this.#paths.has(path));
    return { paths: [...this.#paths], pins, sockets: [...this.#sockets] };
  }

  async addFolder(folder: string): Promise<void> {
    const way = await wayTo(folder, this.#isOpen, "make");
    if (way !== undefined) await this.#guardFolder(way);
  }

  async addFile(file: string): Promise<void> {
    const way = await wayTo(dirname(file), this.#isOpen, "make");
    if (way === undefined) return;
    if (!this.#roots.includes(way.path)) return this.#guardFolder(way);
    this.#guard(await wayTo(join(way.path, basename(file)), this.#isOpen, "refuse"));
  }

  /** The folders on the way stay where they are: in one that was moved the next command would find it uncovered. */
  async addSocket(socket: string): Promise<void> {
    // Expected: nothing is there any more. Commands cannot take away what is covered.
    if (!(await isSocket(socket))) return;
    const way = await wayTo(socket, this.#isOpen, "refuse").catch(async (refusal: unknown) => {
      // It may also go while the way to it is looked at.
      if (await isSocket(socket)) throw refusal;
      return undefined;
    });
    if (way === undefined) return;
    this.#sockets.add(way.path);
    for (const step of way.steps) if (step !== way.path) this.#pins.add(step);
  }

  /** A link in a guarded folder cannot be replaced, but what it leads to may lie where commands write. */
  async #guardFolder(way: Way): Promise<void> {
    this.#guard(way);
    const entries = await readdir(way.path, { withFileTypes: true }).catch(() => []);
    for (const link of entries.filter((entry) => entry.isSymbolicLink())) {
      this.#guard(await wayTo(join(way.path, link.name), this.#isOpen, "refuse"));
    }
  }

  #guard(way: Way | undefined): void {
    if (way === undefined) return;
    if (this.#writable.some((folder) => isInside(way.path, folder))) this.#paths.add(way.path);
    for (const step of way.steps) this.#pins.add(step);
  }

  /** A writable folder counts also inside of a guarded one: whoever listed it meant it. */
  readonly #isOpen = (folder: string): boolean =>
    this.#writable.some(
      (open) =>
        isInside(folder, open) &&
        ![...this.#paths].some((path) => isInside(folder, path) && isInside(path, open)),
    );
}

function isSocket(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSocket(),
    () => false,
  );
}
