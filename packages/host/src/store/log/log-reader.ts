import { isUtf8 } from "node:buffer";
import type { Damage } from "@flint/core/ports";
import type { StoredEvent } from "@flint/protocol";
import type { FileSystem } from "../file-system.ts";
import { decodeLine, LINE_END, type Line, type LogHeader, MAX_RECORD } from "./record.ts";

const CHUNK = 1024 * 1024;

/** Reads a log forwards from a place at which a line starts. One pass per reader; it never throws for content. */
export class LogReader {
  readonly #files: FileSystem;
  readonly #file: number;
  readonly #sequence: Sequence;
  readonly #from: number;
  #size: number;
  #header: LogHeader | undefined;
  #firstLine: Line["kind"] | undefined;
  #firstSeq: number | undefined;
  #terminated = true;
  #trailing = 0;
  /** Inside a line that is too long to be a record. */
  #overlong = false;

  constructor(files: FileSystem, file: number, sequence: Sequence, from: number) {
    this.#files = files;
    this.#file = file;
    this.#sequence = sequence;
    this.#from = from;
    this.#size = from;
  }

  /** How far the log was read. */
  get size(): number {
    return this.#size;
  }

  /** Whether the last line that was read has its line end. */
  get terminated(): boolean {
    return this.#terminated;
  }

  /** Whole but unreadable lines after the last readable record; their numbers may have been told to somebody. */
  get trailing(): number {
    return this.#trailing;
  }

  get header(): LogHeader | undefined {
    return this.#header;
  }

  /** Whether the log started with anything but its header. Only of a reader that reads from the start. */
  get lacksHeader(): boolean {
    return this.#firstLine !== "header";
  }

  /** The number of the first readable record, if there was one. */
  get firstSeq(): number | undefined {
    return this.#firstSeq;
  }

  /** The intact events in order, a chunk of the file at a time. */
  async *batches(): AsyncGenerator<StoredEvent[]> {
    let buffer: Buffer = Buffer.allocUnsafe(CHUNK);
    let filled = 0;
    for (;;) {
      const count = await this.#files.read(this.#file, buffer.subarray(filled), this.#size);
      if (count === 0) break;
      this.#size += count;
      const end = buffer.subarray(0, filled + count).lastIndexOf(LINE_END) + 1;
      filled += count;
      if (end > 0) {
        yield this.#decodeLines(buffer.subarray(0, end));
        buffer.copyWithin(0, end, filled);
        filled -= end;
      }
      if (filled >= MAX_RECORD) {
        this.#overlong = true;
        filled = 0;
      } else if (filled === buffer.length) buffer = enlarged(buffer);
    }
    yield this.#finish(buffer.subarray(0, filled));
  }

  #decodeLines(bytes: Buffer): StoredEvent[] {
    const believed: StoredEvent[] = [];
    // One look at the whole chunk is cheaper than one at each line; lines are looked at singly only if it fails.
    const valid = isUtf8(bytes);
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(LINE_END, start);
      this.#place(this.#decode(bytes.subarray(start, end), valid), believed);
      start = end + 1;
    }
    return believed;
  }

  #finish(rest: Buffer): StoredEvent[] {
    const believed: StoredEvent[] = [];
    this.#terminated = rest.length === 0 && !this.#overlong;
    const torn: Line = this.#terminated ? { kind: "blank" } : this.#decode(rest, false);
    if (torn.kind !== "damaged") this.#place(torn, believed);
    this.#trailing = this.#sequence.end(believed);
    // A record without its line end was never told to anybody, so its number is still free.
    if (torn.kind === "damaged") this.#place(torn, believed);
    this.#sequence.end(believed);
    return believed;
  }

  #decode(line: Buffer, valid: boolean): Line {
    if (this.#overlong) {
      this.#overlong = false;
      return { kind: "damaged" };
    }
    return valid || isUtf8(line) ? decodeLine(line.toString("utf8")) : { kind: "damaged" };
  }

  #place(line: Line, believed: StoredEvent[]): void {
    const isFirst = this.#firstLine === undefined && this.#from === 0;
    this.#firstLine ??= line.kind;
    switch (line.kind) {
      case "blank":
        break;
      case "header":
        this.#header ??= line.header;
        break;
      case "damaged":
        // An unreadable first line was the header, which has no number.
        if (!isFirst) this.#sequence.damaged();
        break;
      case "event":
        this.#firstSeq ??= line.event.seq;
        this.#sequence.add(line.event.seq, line.event, believed);
        break;
      case "foreign":
        this.#firstSeq ??= line.seq;
        this.#sequence.add(line.seq, undefined, believed);
        break;
    }
  }
}

/** The same bytes with twice the room. */
function enlarged(buffer: Buffer): Buffer {
  const larger = Buffer.allocUnsafe(buffer.length * 2);
  buffer.copy(larger);
  return larger;
}

interface Pending {
  readonly seq: number;
  /** Absent for a record of a later version: it takes its number and is left out. */
  readonly event: StoredEvent | undefined;
  /** Unreadable lines right before it. */
  readonly unreadable: number;
}

/** So many rising numbers in a row are believed even if each of them leaves a gap. */
const MOST_PENDING = 16;

/**
 * Puts the records of a log in their rising order and counts what is damaged. A number that jumps ahead is believed
 * only when the next record goes on from there, so that a flipped digit does not hide everything after it.
 */
export class Sequence {
  #last: number;
  #records = 0;
  #missing = 0;
  /** Unreadable lines since the last record that is pending or believed. */
  #unreadable = 0;
  /** Rising, each after a gap; dropped if a record shows that they jumped ahead. */
  #pending: Pending[] = [];

  constructor(last: number) {
    this.#last = last;
  }

  /** The highest number that was believed. */
  get last(): number {
    return this.#last;
  }

  get damage(): Damage {
    return { records: this.#records, missing: this.#missing };
  }

  /** A line that cannot be read. */
  damaged(): void {
    this.#unreadable += 1;
  }

  /**
   * A readable record, without its event if a later version of Flint wrote it. It, and those that were held back, go
   * to `believed` when their place is certain.
   */
  add(seq: number, event: StoredEvent | undefined, believed: StoredEvent[]): void {
    if (seq <= this.#last) {
      this.damaged();
      return;
    }
    if (seq === this.#last + 1 && this.#unreadable === 0 && this.#pending.length === 0) {
      this.#last = seq;
      if (event !== undefined) believed.push(event);
      return;
    }
    this.#dropFrom(seq);
    const before = this.#pending.at(-1)?.seq ?? this.#last;
    const isExplained = seq - before - 1 <= this.#unreadable;
    this.#pending.push({ seq, event, unreadable: this.#unreadable });
    this.#unreadable = 0;
    if (isExplained || this.#pending.length === MOST_PENDING) this.#believe(believed);
  }

  /** No more lines. Returns how many unreadable ones came after the last record. */
  end(believed: StoredEvent[]): number {
    this.#believe(believed);
    const trailing = this.#unreadable;
    this.#records += trailing;
    this.#unreadable = 0;
    return trailing;
  }

  /** Numbers that a later record does not go beyond were wrong. */
  #dropFrom(seq: number): void {
    for (
      let last = this.#pending.at(-1);
      last !== undefined && last.seq >= seq;
      last = this.#pending.at(-1)
    ) {
      this.#pending.pop();
      this.#unreadable += last.unreadable + 1;
    }
  }

  #believe(believed: StoredEvent[]): void {
    for (const { seq, event, unreadable } of this.#pending) {
      this.#records += unreadable;
      this.#missing += Math.max(0, seq - this.#last - 1 - unreadable);
      this.#last = seq;
      if (event !== undefined) believed.push(event);
    }
    this.#pending = [];
  }
}
