import { isId, isRecord, type NotSavedReason } from "@flint/protocol";
import type { Change, State } from "../scan/entry.ts";
import type { StoredLook } from "../scan/workspace.ts";
import { isStoredState } from "./record-check.ts";

/** Why there is a record: a turn changed files, or files were put back, or that was taken back. */
export type RecordKind = "turn" | "revert" | "undo";

/** What one turn, or one way back, did to the files. The records of a thread in their order tell the whole story. */
export interface FilesRecord {
  /** The turn, or the revert. */
  readonly id: string;
  readonly kind: RecordKind;
  readonly roots: readonly string[];
  readonly changes: readonly Change[];
  readonly notSaved: readonly (readonly [path: string, why: NotSavedReason])[];
}

/** What a turn wrote down before it changed something, one line each. */
export type JournalLine =
  | { readonly roots: readonly string[] }
  | { readonly path: string; readonly before: State }
  | { readonly look: StoredLook }
  | { readonly notSaved: readonly [path: string, why: NotSavedReason] };

/** A record as it stands in its file. */
export function encodeRecord(record: FilesRecord): string {
  const changes = record.changes.map(({ path, before, after }) => [path, before ?? null, after ?? null]);
  return JSON.stringify({ ...record, changes });
}

/** Undefined if the text is no whole record. */
export function decodeRecord(text: string): FilesRecord | undefined {
  const value = parsed(text);
  if (!isRecord(value)) return undefined;
  const { id, kind, roots, changes, notSaved } = value;
  if (typeof id !== "string" || !isId(id) || !isKind(kind)) return undefined;
  if (!isTexts(roots) || !Array.isArray(changes) || !changes.every(isStoredChange)) return undefined;
  if (!Array.isArray(notSaved) || !notSaved.every(isNotSaved)) return undefined;
  return { id, kind, roots, changes: changes.map(changeOf), notSaved };
}

/** A line as it stands in a journal. It starts afresh, whatever a full disk left of the one before. */
export function encodeLine(line: JournalLine): string {
  return `\n${JSON.stringify("path" in line ? { path: line.path, before: line.before ?? null } : line)}\n`;
}

/** The lines that are whole; the last one may have been cut off by the end of the process. */
export function decodeLines(text: string): readonly JournalLine[] {
  return text.split("\n").flatMap((line) => decodeLine(line) ?? []);
}

function decodeLine(text: string): JournalLine | undefined {
  const value = parsed(text);
  if (!isRecord(value)) return undefined;
  const { roots, path, before, look, notSaved } = value;
  if (isTexts(roots)) return { roots };
  if (typeof path === "string" && isStoredState(before)) return { path, before: before ?? undefined };
  if (isNotSaved(notSaved)) return { notSaved };
  if (!isRecord(look) || typeof look.base !== "string" || !isId(look.base)) return undefined;
  if (!Array.isArray(look.differences) || !look.differences.every(isDifference)) return undefined;
  const differences = look.differences.map(([path, state]) => [path, state ?? undefined] as const);
  return { look: { base: look.base, differences } };
}

type StoredChange = [string, NonNullable<State> | null, NonNullable<State> | null];

function changeOf([path, before, after]: StoredChange): Change {
  return { path, before: before ?? undefined, after: after ?? undefined };
}

function isStoredChange(value: unknown): value is StoredChange {
  return (
    Array.isArray(value) && typeof value[0] === "string" && isStoredState(value[1]) && isStoredState(value[2])
  );
}

function isDifference(value: unknown): value is [string, NonNullable<State> | null] {
  return Array.isArray(value) && typeof value[0] === "string" && isStoredState(value[1]);
}

function isNotSaved(value: unknown): value is [string, NotSavedReason] {
  return Array.isArray(value) && typeof value[0] === "string" && typeof value[1] === "string";
}

function isKind(value: unknown): value is RecordKind {
  return value === "turn" || value === "revert" || value === "undo";
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Cut off or damaged; it hides only itself.
    return undefined;
  }
}
