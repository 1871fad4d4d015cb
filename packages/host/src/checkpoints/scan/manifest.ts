import type { Stats } from "node:fs";
import type { NotSavedReason } from "@flint/protocol";
import type { IgnoreRules } from "../../globs/ignore-rules.ts";
import { type Change, type Entry, type State, sameState } from "./entry.ts";

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
