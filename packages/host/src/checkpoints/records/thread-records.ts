import { codeOf } from "@flint/core/ports";
import { isId, isRecord, type NotSavedReason } from "@flint/protocol";
import { makeFolders, replaceFile } from "../disk/blobs.ts";
import { type Disk, OPEN_FLAGS, readFile, writeAll } from "../disk/disk.ts";
import { type Change, isStoredState, type State } from "../scan/entry.ts";
import type { StoredLook } from "../scan/workspace.ts";

const NAME = /^(\d{8})-([A-Za-z0-9_-]{1,64})\.(json|journal|applying)$/;
const LONGEST = 512 * 1024 * 1024;

/** A place in the story of a thread. */
export interface RecordPlace {
  readonly order: number;
  readonly id: string;
}

/** The records of one thread: a file each, in an order that its name tells. Half a record is none. */
export class ThreadRecords {
  readonly #disk: Disk;
  readonly #folder: string;

  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  /** The place after all others. */
  next(id: string): RecordPlace {
    if (!isId(id)) throw new Error(`${JSON.stringify(id)} is not an id.`);
    const order = Math.max(0, ...this.#names().map((name) => name.order)) + 1;
    return { order, id };
  }

  /** All whole records, oldest first. */
  all(): readonly FilesRecord[] {
    return this.#names()
      .filter(({ type }) => type === "json")
      .flatMap((name) => this.#read(name, "json") ?? []);
  }

  /** The places of turns that wrote down what was before, and not what they left. */
  cutOff(): readonly RecordPlace[] {
    const names = this.#names();
    const whole = new Set(names.filter(({ type }) => type === "json").map(({ order }) => order));
    return names.filter(({ type, order }) => type === "journal" && !whole.has(order));
  }

  /** What was still being put back when the process ended. */
  unfinished(): readonly { readonly place: RecordPlace; readonly record: FilesRecord }[] {
    return this.#names()
      .filter(({ type }) => type === "applying")
      .flatMap((place) => {
        const record = this.#read(place, "applying");
        if (record === undefined) this.#unlink(this.#pathOf(place, "applying"));
        return record === undefined ? [] : [{ place, record }];
      });
  }

  /** Says what is about to be put back. */
  async intend(place: RecordPlace, record: FilesRecord): Promise<void> {
    makeFolders(this.#disk, this.#folder);
    await replaceFile(this.#disk, this.#pathOf(place, "applying"), Buffer.from(encodeRecord(record)));
  }

  /** Adds a line that survives the end of the process when this returns. */
  note(place: RecordPlace, line: JournalLine): void {
    const path = this.#pathOf(place, "journal");
    const file = this.#openJournal(path);
    try {
      writeAll(this.#disk, file, Buffer.from(encodeLine(line)));
    } finally {
      this.#disk.close(file);
    }
  }

  journal(place: RecordPlace): readonly JournalLine[] {
    const text = this.#text(this.#pathOf(place, "journal"));
    return text === undefined ? [] : decodeLines(text);
  }

  /** Writes a whole record; what led to it is not needed any more. */
  async write(place: RecordPlace, record: FilesRecord): Promise<void> {
    makeFolders(this.#disk, this.#folder);
    await replaceFile(this.#disk, this.#pathOf(place, "json"), Buffer.from(encodeRecord(record)));
    this.drop(place);
  }

  /** Forgets what is not a whole record. */
  drop(place: RecordPlace): void {
    this.#unlink(this.#pathOf(place, "journal"));
    this.#unlink(this.#pathOf(place, "applying"));
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

  #names(): readonly (RecordPlace & { readonly type: string })[] {
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

  #read(place: RecordPlace, type: string): FilesRecord | undefined {
    const text = this.#text(this.#pathOf(place, type));
    return text === undefined ? undefined : decodeRecord(text);
  }

  #text(path: string): string | undefined {
    try {
      return readFile(this.#disk, path, LONGEST)?.toString("utf8");
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

  #pathOf({ order, id }: RecordPlace, type: string): string {
    return `${this.#folder}/${String(order).padStart(8, "0")}-${id}.${type}`;
  }
}

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
