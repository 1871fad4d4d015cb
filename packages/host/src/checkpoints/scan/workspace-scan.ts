import type { Stats } from "node:fs";
import type { NotSavedReason } from "@flint/protocol";
import { IgnoreRules } from "../../globs/ignore-rules.ts";
import { isPlaceholder } from "../../sandbox/paths/protected-names.ts";
import { type FolderEntry, readFile, TimeSlice } from "../disk/disk.ts";
import { isProtectedName } from "../disk/roots.ts";
import { type CaptureContext, captureEntry } from "./capture.ts";
import { type Entry, modeOf, sameState, unsaved } from "./entry.ts";
import { isUnchanged, Manifest, type ScannedEntry } from "./manifest.ts";

/** The coarsest timestamps: of most file systems, and of those that store only seconds. */
const FINE_STAMP_MS = 100;
const COARSE_STAMP_MS = 2_100;
const MAX_IGNORE_FILE = 256 * 1024;

/** Dependencies of a scan. */
export interface ScanOptions extends CaptureContext {
  /** Absolute, without links, none inside another. */
  readonly roots: readonly string[];
  /** Flint's own folder, which is never scanned. */
  readonly stateFolder: string;
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
 * Scans folders and stores the content of what changed since the previous scan. Reads only files whose size, times, mode
 * or inode differ. Yields often. Rejects if it is aborted or a write fails.
 */
export function scanWorkspace(options: ScanOptions, previous: Manifest | undefined): Promise<Manifest> {
  return new WorkspaceScan(options, previous).run();
}

class WorkspaceScan {
  readonly #options: ScanOptions;
  readonly #previous: Manifest | undefined;
  readonly #entries = new Map<string, ScannedEntry>();
  readonly #rules = new Map<string, IgnoreRules>();
  /** Outer folders come first, so that a limit cuts off the deepest ones. */
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
      if (folder !== undefined) await this.#scanFolder(folder);
    }
    return new Manifest(this.#entries, this.#rules);
  }

  #addRoot(root: string): void {
    const stats = this.#options.disk.stat(root);
    if (stats === undefined || !stats.isDirectory()) return;
    const rules = this.#rulesAbove(root);
    this.#record(root, stats, { kind: "folder", mode: modeOf(stats) });
    this.#folders.push({ path: root, root, device: stats.dev, rules });
  }

  async #scanFolder(folder: Folder): Promise<void> {
    const names = this.#isFull ? undefined : this.#list(folder.path);
    if (names === undefined) {
      this.#skip(folder.path, this.#isFull ? "limit" : "special", undefined);
      return;
    }
    const rules = this.#rulesIn(folder, names);
    // Unchanged rules ignore the same names, which need not be matched again.
    const isKnown = this.#previous?.rules.get(folder.path) === rules;
    this.#rules.set(folder.path, rules);
    const prefix = folder.path === "/" ? "/" : `${folder.path}/`;
    const inner = { ...folder, rules };
    for (const entry of names) {
      if (this.#slice.isOver) await this.#pause();
      this.#scanEntry(`${prefix}${entry.name}`, entry, inner, isKnown);
    }
  }

  #scanEntry(path: string, entry: FolderEntry, folder: Folder, isKnown: boolean): void {
    const isFolder = entry.isDirectory();
    const why = this.#reasonToSkip(path, entry.name, isFolder, folder, isKnown);
    const isSkipped = why === "limit" || (why !== undefined && isFolder);
    const stats = isSkipped ? undefined : this.#options.disk.stat(path);
    if (why === "protected" && isFolder && this.#isPlaceholder(path)) return;
    if (isSkipped) this.#skip(path, why, undefined);
    else if (stats === undefined) return;
    else if (why !== undefined) this.#skip(path, why, stats);
    else if (stats.isDirectory()) this.#addFolder(path, stats, folder);
    else this.#addFile(path, stats);
  }

  #addFolder(path: string, stats: Stats, folder: Folder): void {
    // Another file system, such as /proc, is not a part of the workspace.
    if (stats.dev !== folder.device) {
      this.#skip(path, "special", undefined);
      return;
    }
    this.#record(path, stats, { kind: "folder", mode: modeOf(stats) });
    this.#folders.push({ ...folder, path });
  }

  #addFile(path: string, stats: Stats): void {
    const known = this.#previous?.entries.get(path);
    this.#bytes += stats.size;
    if (known !== undefined && isUnchanged(known, stats)) {
      this.#entries.set(path, known);
      return;
    }
    const isTooMuch = this.#bytes > this.#options.limits.total;
    const entry = isTooMuch ? unsaved("limit", stats) : captureEntry(this.#options, path, stats, true);
    if (entry !== undefined) this.#record(path, stats, entry);
  }

  #reasonToSkip(
    path: string,
    name: string,
    isFolder: boolean,
    { path: parent, root, rules }: Folder,
    isKnown: boolean,
  ): NotSavedReason | undefined {
    if (this.#isFull) return "limit";
    if (path === this.#options.stateFolder || isProtectedName(name, parent === root)) return "protected";
    if (name === "node_modules") return "ignored";
    const known = isKnown ? this.#previous?.entries.get(path)?.entry : undefined;
    if (known !== undefined)
      return known.kind === "unsaved" && known.why === "ignored" ? "ignored" : undefined;
    return rules.ignores(path, isFolder) ? "ignored" : undefined;
  }

  /** A placeholder of the sandbox, which disappears with its command and is not a change. */
  #isPlaceholder(path: string): boolean {
    const stats = this.#options.disk.stat(path);
    return stats !== undefined && isPlaceholder(stats);
  }

  get #isFull(): boolean {
    const { entries, milliseconds } = this.#options.limits;
    return this.#entries.size >= entries || performance.now() - this.#startedAt > milliseconds;
  }

  async #pause(): Promise<void> {
    this.#options.signal.throwIfAborted();
    await this.#slice.pause();
    this.#options.signal.throwIfAborted();
  }

  #skip(path: string, why: NotSavedReason, stats: Stats | undefined): void {
    this.#record(path, stats, unsaved(why, stats));
  }

  #record(path: string, stats: Stats | undefined, entry: Entry): void {
    const known = this.#previous?.entries.get(path)?.entry;
    const margin = Number.isInteger((stats?.ctimeMs ?? 0) / 1000) ? COARSE_STAMP_MS : FINE_STAMP_MS;
    this.#entries.set(path, {
      // The same object makes comparing cheap: identical means unchanged.
      entry: known !== undefined && sameState(known, entry) ? known : entry,
      size: stats?.size ?? 0,
      modified: stats?.mtimeMs ?? 0,
      changed: stats?.ctimeMs ?? 0,
      inode: stats?.ino ?? 0,
      mode: stats?.mode ?? 0,
      settled: (stats?.ctimeMs ?? 0) < this.#now - margin,
    });
  }

  /** Undefined if the folder cannot be read. */
  #list(path: string): readonly FolderEntry[] | undefined {
    try {
      return this.#options.disk.list(path);
    } catch {
      // Deleted meanwhile, or not accessible.
      return undefined;
    }
  }

  #rulesIn({ path, rules }: Folder, names: readonly FolderEntry[]): IgnoreRules {
    return names.some(({ name }) => name === ".gitignore") ? this.#combined(rules, path) : rules;
  }

  /** The ignore rules of the repository that contains a root. */
  #rulesAbove(root: string): IgnoreRules {
    const above: string[] = [];
    for (let path = root; path.lastIndexOf("/") > 0; ) {
      if (this.#options.disk.stat(`${path}/.git`) !== undefined) {
        return above.reverse().reduce((rules, folder) => this.#combined(rules, folder), IgnoreRules.none);
      }
      path = path.slice(0, path.lastIndexOf("/"));
      above.push(path);
    }
    return IgnoreRules.none;
  }

  /** Rules combined with those of a folder's own file; the same object as last time if they are unchanged. */
  #combined(rules: IgnoreRules, folder: string): IgnoreRules {
    const text = this.#readIgnoreFile(folder);
    if (text === undefined) return rules;
    const previous = this.#previous?.rules.get(folder);
    const joined = previous?.isBuiltFrom(rules, text) === true ? previous : rules.with(folder, text);
    this.#rules.set(folder, joined);
    return joined;
  }

  #readIgnoreFile(folder: string): string | undefined {
    try {
      return readFile(this.#options.disk, `${folder}/.gitignore`, MAX_IGNORE_FILE)?.toString("utf8");
    } catch {
      // There is none, or it is a link or a folder, which has no effect.
      return undefined;
    }
  }
}

/** Limits of a checkpoint. Files beyond a limit are reported as not saved. */
export interface CheckpointLimits {
  /** Bytes of one file. */
  readonly file: number;
  /** Files, links and folders in all folders of a turn. */
  readonly entries: number;
  /** Bytes of all files together. */
  readonly total: number;
  /** The timeout of one scan. */
  readonly milliseconds: number;
}

/** The default limits. */
export const DEFAULT_LIMITS: CheckpointLimits = {
  file: 10 * 1024 * 1024,
  entries: 50_000,
  total: 1024 * 1024 * 1024,
  milliseconds: 10_000,
};
