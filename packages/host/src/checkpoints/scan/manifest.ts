import type { Stats } from "node:fs";
import { codeOf } from "@flint/core/ports";
import { mintId, type NotSavedReason } from "@flint/protocol";
import type { IgnoreRules } from "../../globs/ignore-rules.ts";
import { makeFolders, replaceFile } from "../disk/blobs.ts";
import { type Disk, readFile } from "../disk/disk.ts";
import { type Change, type Entry, isEntry, type State, sameState } from "./entry.ts";

/** A path as a scan found it, with the metadata that shows a later change without reading the content. */
export interface ScannedEntry {
  readonly entry: Entry;
  readonly size: number;
  readonly modified: number;
  readonly changed: number;
  readonly inode: number;
  readonly mode: number;
  /** False if it changed so shortly before the scan that another change could leave the same timestamps. */
  readonly settled: boolean;
}

/** The result of one scan of some folders. Immutable. */
export class Manifest {
  readonly entries: ReadonlyMap<string, ScannedEntry>;
  /** The ignore rules of each folder; unchanged rules ignore the same names again. */
  readonly rules: ReadonlyMap<string, IgnoreRules>;

  constructor(
    entries: ReadonlyMap<string, ScannedEntry>,
    rules: ReadonlyMap<string, IgnoreRules> = new Map(),
  ) {
    this.entries = entries;
    this.rules = rules;
  }

  /** Returns the state of a path; "unknown" if the scan did not include it. */
  stateOf(path: string): State | "unknown" {
    const found = this.entries.get(path);
    if (found !== undefined) return found.entry;
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const above = this.entries.get(path.slice(0, end))?.entry;
      if (above === undefined) continue;
      // A folder that was listed contains exactly what was found in it; nothing else has children.
      return above.kind === "unsaved" && above.stamp === "" ? "unknown" : undefined;
    }
    return "unknown";
  }

  /** Everything that was skipped, so that changes in it go unnoticed. */
  unscanned(): [path: string, why: NotSavedReason][] {
    const skipped: [string, NotSavedReason][] = [];
    for (const [path, { entry }] of this.entries) {
      if (entry.kind === "unsaved" && entry.stamp === "") skipped.push([path, entry.why]);
    }
    return skipped;
  }
}

/** Reports whether the metadata proves that a path has not changed since it was scanned. */
export function isUnchanged(scanned: ScannedEntry, stats: Stats): boolean {
  return (
    scanned.settled &&
    scanned.modified === stats.mtimeMs &&
    scanned.changed === stats.ctimeMs &&
    scanned.size === stats.size &&
    scanned.inode === stats.ino &&
    scanned.mode === stats.mode
  );
}

/** The paths that differ. `current` returns the state of a path that the later scan skipped. */
export function changesBetween(
  before: Manifest,
  after: Manifest,
  current: (path: string) => State,
): readonly Change[] {
  const changes: Change[] = [];
  const add = (path: string, was: State, is: State) => {
    if (!sameState(was, is)) changes.push({ path, before: was, after: is });
  };
  for (const [path, { entry }] of before.entries) {
    const later = after.entries.get(path);
    if (later?.entry === entry) continue;
    if (isUnscanned(entry)) continue;
    add(path, entry, later === undefined || isUnscanned(later.entry) ? current(path) : later.entry);
  }
  for (const [path, { entry }] of after.entries) {
    if (before.entries.has(path) || isUnscanned(entry)) continue;
    const was = before.stateOf(path);
    if (was !== "unknown") add(path, was, entry);
  }
  return changes;
}

/** Reports whether the scan skipped it, so that its content is unknown. */
function isUnscanned(entry: Entry): boolean {
  return entry.kind === "unsaved" && entry.stamp === "";
}

const NAME = /^([0-9a-f-]{36})\.manifest$/;
const MAX_BYTES = 256 * 1024 * 1024;

type Line = readonly [string, Entry, number, number, number, number, number, boolean];

/** The stored manifests of one workspace. A file has one line per path. */
export class ManifestFiles {
  readonly #disk: Disk;
  readonly #folder: string;

  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  /** The newest manifest, if it can be read. */
  newest(): { readonly id: string; readonly manifest: Manifest } | undefined {
    const ids = this.ids();
    const id = ids.at(-1);
    const manifest = id === undefined ? undefined : this.read(id);
    return id === undefined || manifest === undefined ? undefined : { id, manifest };
  }

  /** Their ids, oldest first. */
  ids(): readonly string[] {
    try {
      return this.#disk
        .list(this.#folder)
        .flatMap(({ name }) => NAME.exec(name)?.[1] ?? [])
        .sort();
    } catch (error) {
      if (codeOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  /** Undefined if it is missing or damaged. */
  read(id: string): Manifest | undefined {
    try {
      const text = readFile(this.#disk, this.#pathOf(id), MAX_BYTES)?.toString("utf8");
      return text === undefined ? undefined : parse(text);
    } catch {
      // A manifest only saves work; without it everything is scanned again.
      return undefined;
    }
  }

  /** Writes a manifest and returns its id. */
  async write(manifest: Manifest): Promise<string> {
    const id = mintId();
    const lines: string[] = [];
    for (const [path, scanned] of manifest.entries) lines.push(JSON.stringify(lineOf(path, scanned)));
    makeFolders(this.#disk, this.#folder);
    await replaceFile(this.#disk, this.#pathOf(id), Buffer.from(`${lines.join("\n")}\n`));
    return id;
  }

  /** Marks a manifest as in use. False if it no longer exists. */
  touch(id: string): boolean {
    try {
      this.#disk.touch(this.#pathOf(id));
      return true;
    } catch {
      // Whatever the reason, a new one is written.
      return false;
    }
  }

  #pathOf(id: string): string {
    return `${this.#folder}/${id}.manifest`;
  }
}

/** Returns the differences between a manifest and a later one, path by path. */
export function differences(base: Manifest, later: Manifest): [path: string, state: State][] {
  const found: [string, State][] = [];
  let added = 0;
  for (const [path, { entry }] of later.entries) {
    const known = base.entries.get(path);
    if (known === undefined) added += 1;
    if (known?.entry !== entry) found.push([path, entry]);
  }
  if (later.entries.size === base.entries.size + added) return found;
  for (const path of base.entries.keys()) if (!later.entries.has(path)) found.push([path, undefined]);
  return found;
}

/** Applies differences to a manifest. Its entries do not count as scanned: they are read again by the next scan. */
export function withDifferences(base: Manifest, found: readonly (readonly [string, State])[]): Manifest {
  const entries = new Map(base.entries);
  for (const [path, entry] of found) {
    if (entry === undefined) entries.delete(path);
    else entries.set(path, { entry, size: 0, modified: 0, changed: 0, inode: 0, mode: 0, settled: false });
  }
  return new Manifest(entries);
}

function lineOf(path: string, scanned: ScannedEntry): Line {
  const { entry, size, modified, changed, inode, mode, settled } = scanned;
  return [path, entry, size, modified, changed, inode, mode, settled];
}

function parse(text: string): Manifest | undefined {
  const entries = new Map<string, ScannedEntry>();
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const value: unknown = JSON.parse(line);
    if (!isLine(value)) return undefined;
    const [path, entry, size, modified, changed, inode, mode, settled] = value;
    entries.set(path, { entry, size, modified, changed, inode, mode, settled });
  }
  return new Manifest(entries);
}

function isLine(value: unknown): value is Line {
  if (!Array.isArray(value) || value.length !== 8) return false;
  const [path, entry, ...rest] = value;
  const settled: unknown = rest.pop();
  return (
    typeof path === "string" &&
    isEntry(entry) &&
    rest.every((part) => typeof part === "number") &&
    typeof settled === "boolean"
  );
}
