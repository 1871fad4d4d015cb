import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { isRecord, type NotSavedReason } from "@flint/protocol";

/** An entry at a path, in enough detail to compare and restore it. */
export type Entry =
  | { readonly kind: "file"; readonly hash: string; readonly size: number; readonly mode: number }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "folder"; readonly mode: number }
  /** Something that is not stored. `stamp` changes with its content; it is empty for a folder. */
  | { readonly kind: "unsaved"; readonly why: NotSavedReason; readonly stamp: string };

/** The entry at a path; undefined if there is none. */
export type State = Entry | undefined;

/** One path that a turn or a restore changed. */
export interface Change {
  readonly path: string;
  readonly before: State;
  readonly after: State;
}

/** Reports whether two states are equal in everything that a restore sets. */
export function sameState(left: State, right: State): boolean {
  if (left === right) return true;
  if (left === undefined || right === undefined) return false;
  switch (left.kind) {
    case "file":
      return right.kind === "file" && left.hash === right.hash && left.mode === right.mode;
    case "link":
      return right.kind === "link" && left.target === right.target;
    case "folder":
      return right.kind === "folder" && left.mode === right.mode;
    case "unsaved":
      return right.kind === "unsaved" && left.stamp === right.stamp;
  }
}

/** An entry that is not stored, with a stamp if it has content of its own. */
export function unsaved(why: NotSavedReason, stats: Stats | undefined): Entry {
  const stamp =
    stats === undefined || stats.isDirectory() ? "" : `${stats.size}:${stats.mtimeMs}:${stats.ino}`;
  return { kind: "unsaved", why, stamp };
}

/** The hash that identifies content. */
export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The mode bits that are restored. */
export function modeOf(stats: Stats): number {
  return stats.mode & 0o7777;
}

const HASH = /^[0-9a-f]{64}$/;

/** Reports whether a value that was read from a file is an entry. */
export function isEntry(value: unknown): value is Entry {
  if (!isRecord(value)) return false;
  const { kind, hash, size, mode, target, why, stamp } = value;
  switch (kind) {
    case "file":
      return (
        typeof hash === "string" && HASH.test(hash) && typeof size === "number" && typeof mode === "number"
      );
    case "link":
      return typeof target === "string";
    case "folder":
      return typeof mode === "number";
    case "unsaved":
      return typeof why === "string" && typeof stamp === "string";
    default:
      return false;
  }
}

/** Reports whether a value that was read from a file is a state; null stands for nothing. */
export function isStoredState(value: unknown): value is Entry | null {
  return value === null || isEntry(value);
}
