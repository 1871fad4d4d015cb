import { codeOf } from "@flint/core/ports";
import { isId, isRecord, type NotSavedReason, parsedJson } from "@flint/protocol";
import { makeFolders, replaceFile } from "../disk/blobs.ts";
import { type Disk, OPEN_FLAGS, readFile, writeAll } from "../disk/disk.ts";
import { type Change, isStoredState, type State } from "../scan/entry.ts";
import type { StoredSnapshot } from "../scan/workspace.ts";

const NAME = /^(\d{8})-([A-Za-z0-9_-]{1,64})\.(json|journal|applying)$/;
const MAX_BYTES = 512 * 1024 * 1024;

/** Identifies a record and its position among the records of its thread. */
export interface RecordKey {
  readonly order: number;
  readonly id: string;
}

/** Work on the files that was begun and is not recorded as ended. */
export interface Unfinished {
  /** Turns with a journal of the state before, but no record of the state after. */
  readonly turns: readonly RecordKey[];
  /** Restores, whose intents may be incomplete. */
  readonly restores: readonly RecordKey[];
}

/** The records of one thread, one file each, ordered by file name. Incomplete records are ignored. */
export class ThreadRecords {
  readonly #disk: Disk;
  readonly #folder: string;

  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  /** The key of a new record, after all others. */
  next(id: string): RecordKey {
    if (!isId(id)) throw new Error(`${JSON.stringify(id)} is not an id.`);
    const order = Math.max(0, ...this.#names().map((name) => name.order)) + 1;
    return { order, id };
  }

  /** All complete records, oldest first. */
  all(): readonly FilesRecord[] {
    return this.#names()
      .filter(({ type }) => type === "json")
      .flatMap((name) => this.#read(name, "json") ?? []);
  }

  /** Returns the records that were unfinished when the process ended. The folder is listed once for both. */
  unfinished(): Unfinished {
    const names = this.#names();
    const whole = new Set(names.filter(({ type }) => type === "json").map(({ order }) => order));
    return {
      turns: names.filter(({ type, order }) => type === "journal" && !whole.has(order)),
      restores: names.filter(({ type }) => type === "applying"),
    };
  }

  /** Returns the intent of a restore. One whose intent is incomplete has done nothing, and is forgotten. */
  intent(key: RecordKey): FilesRecord | undefined {
    const record = this.#read(key, "applying");
    if (record === undefined) this.#unlink(this.#pathOf(key, "applying"));
    return record;
  }

  /** Records what is about to be restored. */
  async writeIntent(key: RecordKey, record: FilesRecord): Promise<void> {
    makeFolders(this.#disk, this.#folder);
    await replaceFile(this.#disk, this.#pathOf(key, "applying"), Buffer.from(encodeRecord(record)));
  }

  /** Appends a line to the journal; it survives the end of the process when this returns. */
  appendJournal(key: RecordKey, line: JournalLine): void {
    const path = this.#pathOf(key, "journal");
    const file = this.#openJournal(path);
    try {
      writeAll(this.#disk, file, Buffer.from(encodeLine(line)));
    } finally {
      this.#disk.close(file);
    }
  }

  journal(key: RecordKey): readonly JournalLine[] {
    const text = this.#text(this.#pathOf(key, "journal"));
    return text === undefined ? [] : decodeLines(text);
  }

  /** Writes a complete record, and deletes the journal and intent that led to it. */
  async write(key: RecordKey, record: FilesRecord): Promise<void> {
    makeFolders(this.#disk, this.#folder);
    await replaceFile(this.#disk, this.#pathOf(key, "json"), Buffer.from(encodeRecord(record)));
    this.discard(key);
  }

  /** Deletes the journal and the intent of a record. */
  discard(key: RecordKey): void {
    this.#unlink(this.#pathOf(key, "journal"));
    this.#unlink(this.#pathOf(key, "applying"));
  }

  #openJournal(path: string): number {
    try {
      return this.#disk.open(path, OPEN_FLAGS.append, 0o600);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
    }
    makeFolders(this.#disk, this.#folder);
    return this.#disk.open(path, OPEN_FLAGS.append, 0o600);
  }

  #names(): readonly (RecordKey & { readonly type: string })[] {
    try {
      const found = this.#disk.list(this.#folder).flatMap(({ name }) => {
        const [, order, id = "", type = ""] = NAME.exec(name) ?? [];
        return order === undefined ? [] : [{ order: Number(order), id, type }];
      });
      return found.sort((left, right) => left.order - right.order);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  #read(key: RecordKey, type: string): FilesRecord | undefined {
    const text = this.#text(this.#pathOf(key, type));
    return text === undefined ? undefined : decodeRecord(text);
  }

  #text(path: string): string | undefined {
    try {
      return readFile(this.#disk, path, MAX_BYTES)?.toString("utf8");
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  #unlink(path: string): void {
    try {
      this.#disk.unlink(path);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
    }
  }

  #pathOf({ order, id }: RecordKey, type: string): string {
    return `${this.#folder}/${String(order).padStart(8, "0")}-${id}.${type}`;
  }
}

/** The subject of a record: the changes of a turn, a revert, or the undo of a revert. */
export type RecordKind = "turn" | "revert" | "undo";

/** The file changes of one turn, revert or undo. Together, in order, they are the history of the files. */
export interface FilesRecord {
  /** The turn, or the revert. */
  readonly id: string;
  readonly kind: RecordKind;
  readonly roots: readonly string[];
  readonly changes: readonly Change[];
  readonly notSaved: readonly (readonly [path: string, why: NotSavedReason])[];
}

/** A line of the journal that a turn writes before it changes anything. */
export type JournalLine =
  | { readonly roots: readonly string[] }
  | { readonly path: string; readonly before: State }
  | { readonly snapshot: StoredSnapshot }
  | { readonly notSaved: readonly [path: string, why: NotSavedReason] };

/** The file content of a record. */
export function encodeRecord(record: FilesRecord): string {
  const changes = record.changes.map(({ path, before, after }) => [path, before ?? null, after ?? null]);
  return JSON.stringify({ ...record, changes });
}

/** Undefined if the text is not a complete record. */
export function decodeRecord(text: string): FilesRecord | undefined {
  const value = parsedJson(text);
  if (!isRecord(value)) return undefined;
  const { id, kind, roots, changes, notSaved } = value;
  if (typeof id !== "string" || !isId(id) || !isKind(kind)) return undefined;
  if (!isStrings(roots) || !Array.isArray(changes) || !changes.every(isStoredChange)) return undefined;
  if (!Array.isArray(notSaved) || !notSaved.every(isNotSaved)) return undefined;
  return { id, kind, roots, changes: changes.map(changeOf), notSaved };
}

/** A journal line. Starts with a line end, because a full disk may have cut off the line before. */
export function encodeLine(line: JournalLine): string {
  return `\n${JSON.stringify(storedLine(line))}\n`;
}

/** The complete lines; the last one may have been cut off by the end of the process. */
export function decodeLines(text: string): readonly JournalLine[] {
  return text.split("\n").flatMap((line) => decodeLine(line) ?? []);
}

/** Journals name a snapshot "look", and have null where there was nothing. */
function storedLine(line: JournalLine): unknown {
  if ("path" in line) return { path: line.path, before: line.before ?? null };
  return "snapshot" in line ? { look: line.snapshot } : line;
}

function decodeLine(text: string): JournalLine | undefined {
  const value = parsedJson(text);
  if (!isRecord(value)) return undefined;
  const { roots, path, before, look, notSaved } = value;
  if (isStrings(roots)) return { roots };
  if (typeof path === "string" && isStoredState(before)) return { path, before: before ?? undefined };
  if (isNotSaved(notSaved)) return { notSaved };
  if (!isRecord(look) || typeof look.base !== "string" || !isId(look.base)) return undefined;
  if (!Array.isArray(look.differences) || !look.differences.every(isDifference)) return undefined;
  const differences = look.differences.map(([path, state]) => [path, state ?? undefined] as const);
  return { snapshot: { base: look.base, differences } };
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

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}
