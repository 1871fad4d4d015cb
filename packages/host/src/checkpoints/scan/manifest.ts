import type { Stats } from "node:fs";
import { codeOf } from "@flint/core/ports";
import { mintId, type NotSavedReason } from "@flint/protocol";
import type { IgnoreRules } from "../../globs/ignore-rules.ts";
import { makeFolders, replaceFile } from "../disk/blobs.ts";
import { type Disk, readFile } from "../disk/disk.ts";
import { type Change, type Entry, isEntry, type State, sameState } from "./entry.ts";

/** A path as it was found: what is there, and by what to see without reading it that it is still the same. */
export interface Seen {
  readonly entry: Entry;
  readonly size: number;
  readonly modified: number;
  readonly changed: number;
  readonly inode: number;
  readonly mode: number;
  /** False if it was changed so shortly before it was read that a later change might leave no trace. */
  readonly settled: boolean;
}

/** Everything that was found in some folders at one time. Does not change once it is made. */
export class Manifest {
  readonly seen: ReadonlyMap<string, Seen>;
  /** What was ignored in each folder, to know whether the same names are ignored again. */
  readonly rules: ReadonlyMap<string, IgnoreRules>;

  constructor(seen: ReadonlyMap<string, Seen>, rules: ReadonlyMap<string, IgnoreRules> = new Map()) {
    this.seen = seen;
    this.rules = rules;
  }

  /** What was at a path. "unknown": nobody looked, so it may have been anything. */
  stateOf(path: string): State | "unknown" {
    const found = this.seen.get(path);
    if (found !== undefined) return found.entry;
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const above = this.seen.get(path.slice(0, end))?.entry;
      if (above === undefined) continue;
      // A folder that was listed holds exactly what was found in it; behind anything else there was nothing to list.
      return above.kind === "unsaved" && above.stamp === "" ? "unknown" : undefined;
    }
    return "unknown";
  }

  /** Folders and what else was never looked into, so that nobody knows whether it changed. */
  blindSpots(): [path: string, why: NotSavedReason][] {
    const spots: [string, NotSavedReason][] = [];
    for (const [path, { entry }] of this.seen) {
      if (entry.kind === "unsaved" && entry.stamp === "") spots.push([path, entry.why]);
    }
    return spots;
  }
}

/** Whether a path is, without reading it, known to be as it was seen. */
export function isUnchanged(seen: Seen, stats: Stats): boolean {
  return (
    seen.settled &&
    seen.modified === stats.mtimeMs &&
    seen.changed === stats.ctimeMs &&
    seen.size === stats.size &&
    seen.inode === stats.ino &&
    seen.mode === stats.mode
  );
}

/** The paths that differ. `present` tells of a path that the later look did not come to. */
export function changesBetween(
  before: Manifest,
  after: Manifest,
  present: (path: string) => State,
): readonly Change[] {
  const changes: Change[] = [];
  const add = (path: string, was: State, is: State) => {
    if (!sameState(was, is)) changes.push({ path, before: was, after: is });
  };
  for (const [path, { entry }] of before.seen) {
    const later = after.seen.get(path);
    if (later?.entry === entry) continue;
    if (isBlind(entry)) continue;
    add(path, entry, later === undefined || isBlind(later.entry) ? present(path) : later.entry);
  }
  for (const [path, { entry }] of after.seen) {
    if (before.seen.has(path) || isBlind(entry)) continue;
    const was = before.stateOf(path);
    if (was !== "unknown") add(path, was, entry);
  }
  return changes;
}

/** Not looked at, whatever it is. */
function isBlind(entry: Entry): boolean {
  return entry.kind === "unsaved" && entry.stamp === "";
}

const NAME = /^([0-9a-f-]{36})\.manifest$/;
const LONGEST = 256 * 1024 * 1024;

type Line = readonly [string, Entry, number, number, number, number, number, boolean];

/** The manifests of one workspace that outlive the process, newest last. A file holds one path a line. */
export class ManifestFiles {
  readonly #disk: Disk;
  readonly #folder: string;

  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  /** The newest one that can be read. */
  newest(): { readonly id: string; readonly manifest: Manifest } | undefined {
    const ids = this.ids();
    const id = ids.at(-1);
    const manifest = id === undefined ? undefined : this.read(id);
    return id === undefined || manifest === undefined ? undefined : { id, manifest };
  }

  /** In the order they were made. */
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

  /** Undefined if it is not there or damaged. */
  read(id: string): Manifest | undefined {
    try {
      const text = readFile(this.#disk, this.#pathOf(id), LONGEST)?.toString("utf8");
      return text === undefined ? undefined : parse(text);
    } catch {
      // A manifest only saves work; without it everything is looked at anew.
      return undefined;
    }
  }

  /** Writes one and gives its id. */
  async write(manifest: Manifest): Promise<string> {
    const id = mintId();
    const lines: string[] = [];
    for (const [path, seen] of manifest.seen) lines.push(JSON.stringify(lineOf(path, seen)));
    makeFolders(this.#disk, this.#folder);
    await replaceFile(this.#disk, this.#pathOf(id), Buffer.from(`${lines.join("\n")}\n`));
    return id;
  }

  /** Says that one is in use. False if it is not there any more. */
  touch(id: string): boolean {
    try {
      this.#disk.touch(this.#pathOf(id));
      return true;
    } catch {
      // Whatever the reason, a new one is made.
      return false;
    }
  }

  #pathOf(id: string): string {
    return `${this.#folder}/${id}.manifest`;
  }
}

/** What differs between a manifest and a later one, path by path. */
export function differences(base: Manifest, later: Manifest): [path: string, state: State][] {
  const found: [string, State][] = [];
  let added = 0;
  for (const [path, { entry }] of later.seen) {
    const known = base.seen.get(path);
    if (known === undefined) added += 1;
    if (known?.entry !== entry) found.push([path, entry]);
  }
  if (later.seen.size === base.seen.size + added) return found;
  for (const path of base.seen.keys()) if (!later.seen.has(path)) found.push([path, undefined]);
  return found;
}

/** The later one again. It tells what was where, not whether it still is: nothing in it counts as looked at. */
export function withDifferences(base: Manifest, found: readonly (readonly [string, State])[]): Manifest {
  const seen = new Map(base.seen);
  for (const [path, entry] of found) {
    if (entry === undefined) seen.delete(path);
    else seen.set(path, { entry, size: 0, modified: 0, changed: 0, inode: 0, mode: 0, settled: false });
  }
  return new Manifest(seen);
}

function lineOf(path: string, seen: Seen): Line {
  const { entry, size, modified, changed, inode, mode, settled } = seen;
  return [path, entry, size, modified, changed, inode, mode, settled];
}

function parse(text: string): Manifest | undefined {
  const seen = new Map<string, Seen>();
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const value: unknown = JSON.parse(line);
    if (!isLine(value)) return undefined;
    const [path, entry, size, modified, changed, inode, mode, settled] = value;
    seen.set(path, { entry, size, modified, changed, inode, mode, settled });
  }
  return new Manifest(seen);
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
