import { codeOf } from "@flint/core/ports";
import { isId } from "@flint/protocol";
import { makeFolders, replaceFile } from "../disk/blobs.ts";
import { type Disk, OPEN_FLAGS, readFile, writeAll } from "../disk/disk.ts";
import {
  decodeLines,
  decodeRecord,
  encodeLine,
  encodeRecord,
  type FilesRecord,
  type JournalLine,
} from "./turn-record.ts";

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
