import type { Stats } from "node:fs";
import type { NotSavedReason } from "@flint/protocol";
import { IgnoreRules } from "../../globs/ignore-rules.ts";
import { isPlaceholder } from "../../sandbox/paths/protected-names.ts";
import { type Named, readFile, TimeSlice } from "../disk/disk.ts";
import { isProtectedName } from "../disk/roots.ts";
import { type CaptureTools, captureEntry } from "./capture.ts";
import { type Entry, modeOf, sameState, unsaved } from "./entry.ts";
import { isUnchanged, Manifest, type Seen } from "./manifest.ts";

/** Time stamps of files are this coarse at worst: those of most file systems, and those that know only seconds. */
const FINE_STAMP_MS = 100;
const COARSE_STAMP_MS = 2_100;
const LONGEST_IGNORE_FILE = 256 * 1024;

/** What a look at folders needs. */
export interface ScanOptions extends CaptureTools {
  /** Absolute, without links, none inside another. */
  readonly roots: readonly string[];
  /** A folder that is never looked into: our own. */
  readonly own: string;
  readonly limits: CheckpointLimits;
  readonly signal: AbortSignal;
}

interface Folder {
  readonly path: string;
  readonly root: string;
  readonly device: number;
  readonly rules: IgnoreRules;
}

/**
 * Looks at everything in some folders and keeps the content of what changed since the previous look. Reads only files
 * whose size, times, mode or place on the disk differ. Pauses often. Rejects if it is aborted or the disk refuses.
 */
export function scanWorkspace(options: ScanOptions, previous: Manifest | undefined): Promise<Manifest> {
  return new WorkspaceScan(options, previous).run();
}

class WorkspaceScan {
  readonly #options: ScanOptions;
  readonly #previous: Manifest | undefined;
  readonly #seen = new Map<string, Seen>();
  readonly #rules = new Map<string, IgnoreRules>();
  /** Outer folders come first, so that a limit costs what lies deepest. */
  readonly #folders: Folder[] = [];
  readonly #slice = new TimeSlice();
  readonly #startedAt = performance.now();
  readonly #now = Date.now();
  #bytes = 0;

  constructor(options: ScanOptions, previous: Manifest | undefined) {
    this.#options = options;
    this.#previous = previous;
  }

  async run(): Promise<Manifest> {
    for (const root of this.#options.roots) this.#addRoot(root);
    for (let at = 0; at < this.#folders.length; at += 1) {
      const folder = this.#folders[at];
      if (folder !== undefined) await this.#visit(folder);
    }
    return new Manifest(this.#seen, this.#rules);
  }

  #addRoot(root: string): void {
    const stats = this.#options.disk.stat(root);
    if (stats === undefined || !stats.isDirectory()) return;
    const rules = this.#rulesAbove(root);
    this.#note(root, stats, { kind: "folder", mode: modeOf(stats) });
    this.#folders.push({ path: root, root, device: stats.dev, rules });
  }

  async #visit(folder: Folder): Promise<void> {
    const names = this.#isFull ? undefined : this.#list(folder.path);
    if (names === undefined) {
      this.#skip(folder.path, this.#isFull ? "limit" : "special", undefined);
      return;
    }
    const rules = this.#rulesIn(folder, names);
    // The same rules as last time ignore the same names, which need not be compared again.
    const isKnown = this.#previous?.rules.get(folder.path) === rules;
    this.#rules.set(folder.path, rules);
    const prefix = folder.path === "/" ? "/" : `${folder.path}/`;
    const inner = { ...folder, rules };
    for (const named of names) {
      if (this.#slice.isOver) await this.#pause();
      this.#look(`${prefix}${named.name}`, named, inner, isKnown);
    }
  }

  #look(path: string, named: Named, folder: Folder, isKnown: boolean): void {
    const isFolder = named.isDirectory();
    const why = this.#reasonToSkip(path, named.name, isFolder, folder, isKnown);
    const isBlind = why === "limit" || (why !== undefined && isFolder);
    const stats = isBlind ? undefined : this.#options.disk.stat(path);
    if (why === "protected" && isFolder && this.#isHeldByUs(path)) return;
    if (isBlind) this.#skip(path, why, undefined);
    else if (stats === undefined) return;
    else if (why !== undefined) this.#skip(path, why, stats);
    else if (stats.isDirectory()) this.#lookAtFolder(path, stats, folder);
    else this.#lookAtFile(path, stats);
  }

  #lookAtFolder(path: string, stats: Stats, folder: Folder): void {
    // Another file system, such as /proc, is not a part of the workspace.
    if (stats.dev !== folder.device) {
      this.#skip(path, "special", undefined);
      return;
    }
    this.#note(path, stats, { kind: "folder", mode: modeOf(stats) });
    this.#folders.push({ ...folder, path });
  }

  #lookAtFile(path: string, stats: Stats): void {
    const known = this.#previous?.seen.get(path);
    this.#bytes += stats.size;
    if (known !== undefined && isUnchanged(known, stats)) {
      this.#seen.set(path, known);
      return;
    }
    const isTooMuch = this.#bytes > this.#options.limits.total;
    const entry = isTooMuch ? unsaved("limit", stats) : captureEntry(this.#options, path, stats, true);
    if (entry !== undefined) this.#note(path, stats, entry);
  }

  #reasonToSkip(
    path: string,
    name: string,
    isFolder: boolean,
    { path: parent, root, rules }: Folder,
    isKnown: boolean,
  ): NotSavedReason | undefined {
    if (this.#isFull) return "limit";
    if (path === this.#options.own || isProtectedName(name, parent === root)) return "protected";
    if (name === "node_modules") return "ignored";
    const known = isKnown ? this.#previous?.seen.get(path)?.entry : undefined;
    if (known !== undefined)
      return known.kind === "unsaved" && known.why === "ignored" ? "ignored" : undefined;
    return rules.ignores(path, isFolder) ? "ignored" : undefined;
  }

  /** What a sandbox keeps a name with is gone again with its command: nobody made it, and nobody misses it. */
  #isHeldByUs(path: string): boolean {
    const stats = this.#options.disk.stat(path);
    return stats !== undefined && isPlaceholder(stats);
  }

  get #isFull(): boolean {
    const { entries, milliseconds } = this.#options.limits;
    return this.#seen.size >= entries || performance.now() - this.#startedAt > milliseconds;
  }

  async #pause(): Promise<void> {
    this.#options.signal.throwIfAborted();
    await this.#slice.pause();
    this.#options.signal.throwIfAborted();
  }

  #skip(path: string, why: NotSavedReason, stats: Stats | undefined): void {
    this.#note(path, stats, unsaved(why, stats));
  }

  #note(path: string, stats: Stats | undefined, entry: Entry): void {
    const known = this.#previous?.seen.get(path)?.entry;
    const margin = Number.isInteger((stats?.ctimeMs ?? 0) / 1000) ? COARSE_STAMP_MS : FINE_STAMP_MS;
    this.#seen.set(path, {
      // The very same object says to whoever compares that nothing changed.
      entry: known !== undefined && sameState(known, entry) ? known : entry,
      size: stats?.size ?? 0,
      modified: stats?.mtimeMs ?? 0,
      changed: stats?.ctimeMs ?? 0,
      inode: stats?.ino ?? 0,
      mode: stats?.mode ?? 0,
      settled: (stats?.ctimeMs ?? 0) < this.#now - margin,
    });
  }

  /** Undefined if it may not be looked into. */
  #list(path: string): readonly Named[] | undefined {
    try {
      return this.#options.disk.list(path);
    } catch {
      // Gone in the meantime, or kept from us.
      return undefined;
    }
  }

  #rulesIn({ path, rules }: Folder, names: readonly Named[]): IgnoreRules {
    return names.some(({ name }) => name === ".gitignore") ? this.#joined(rules, path) : rules;
  }

  /** The rules of the repository that a root lies in. */
  #rulesAbove(root: string): IgnoreRules {
    const above: string[] = [];
    for (let path = root; path.lastIndexOf("/") > 0; ) {
      if (this.#options.disk.stat(`${path}/.git`) !== undefined) {
        return above.reverse().reduce((rules, folder) => this.#joined(rules, folder), IgnoreRules.none);
      }
      path = path.slice(0, path.lastIndexOf("/"));
      above.push(path);
    }
    return IgnoreRules.none;
  }

  /** Rules with those of a folder's own file: the very same as last time if nothing in them changed. */
  #joined(rules: IgnoreRules, folder: string): IgnoreRules {
    const text = this.#readIgnoreFile(folder);
    if (text === undefined) return rules;
    const previous = this.#previous?.rules.get(folder);
    const joined = previous?.isBuiltFrom(rules, text) === true ? previous : rules.with(folder, text);
    this.#rules.set(folder, joined);
    return joined;
  }

  #readIgnoreFile(folder: string): string | undefined {
    try {
      return readFile(this.#options.disk, `${folder}/.gitignore`, LONGEST_IGNORE_FILE)?.toString("utf8");
    } catch {
      // There is none, or it is a link or a folder: then it says nothing.
      return undefined;
    }
  }
}

/** How much is saved. What is beyond is told, not lost in silence. */
export interface CheckpointLimits {
  /** Bytes of one file. */
  readonly file: number;
  /** Files, links and folders in all folders of a turn. */
  readonly entries: number;
  /** Bytes of all files together. */
  readonly total: number;
  /** How long one look at everything may take. */
  readonly milliseconds: number;
}

/** What holds unless told. */
export const DEFAULT_LIMITS: CheckpointLimits = {
  file: 10 * 1024 * 1024,
  entries: 50_000,
  total: 1024 * 1024 * 1024,
  milliseconds: 10_000,
};
