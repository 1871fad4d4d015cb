import { isUtf8 } from "node:buffer";
import type { Damage } from "@flint/core/ports";
import type { StoredEvent } from "@flint/protocol";
import type { FileSystem } from "../file-system.ts";
import { decodeLine, LINE_END, type Line, type LogHeader, MAX_RECORD } from "./record.ts";

const CHUNK = 1024 * 1024;

/** Reads a log from an offset at which a line starts. One pass per reader. Never throws because of the content. */
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
  /** True if it is inside a line that is too long to be a record. */
  #overlong = false;

  constructor(files: FileSystem, file: number, sequence: Sequence, from: number) {
    this.#files = files;
    this.#file = file;
    this.#sequence = sequence;
    this.#from = from;
    this.#size = from;
  }

  /** The offset up to which the log was read. */
  get size(): number {
    return this.#size;
  }

  /** Reports whether the last line has its line end. */
  get terminated(): boolean {
    return this.#terminated;
  }

  /** Complete but unreadable lines after the last readable record; their numbers may have been sent to clients. */
  get trailing(): number {
    return this.#trailing;
  }

  get header(): LogHeader | undefined {
    return this.#header;
  }

  /** Reports whether the log does not start with its header. Only for a reader that reads from the start. */
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
    const accepted: StoredEvent[] = [];
    // Checking the whole chunk is cheaper than each line; lines are checked only if that fails.
    const valid = isUtf8(bytes);
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(LINE_END, start);
      this.#addLine(this.#decode(bytes.subarray(start, end), valid), accepted);
      start = end + 1;
    }
    return accepted;
  }

  #finish(rest: Buffer): StoredEvent[] {
    const accepted: StoredEvent[] = [];
    this.#terminated = rest.length === 0 && !this.#overlong;
    const torn: Line = this.#terminated ? { kind: "blank" } : this.#decode(rest, false);
    if (torn.kind !== "damaged") this.#addLine(torn, accepted);
    this.#trailing = this.#sequence.end(accepted);
    // A record without its line end was never sent to a client, so its number is still free.
    if (torn.kind === "damaged") this.#addLine(torn, accepted);
    this.#sequence.end(accepted);
    return accepted;
  }

  #decode(line: Buffer, valid: boolean): Line {
    if (this.#overlong) {
      this.#overlong = false;
      return { kind: "damaged" };
    }
    return valid || isUtf8(line) ? decodeLine(line.toString("utf8")) : { kind: "damaged" };
  }

  #addLine(line: Line, accepted: StoredEvent[]): void {
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
        if (!isFirst) this.#sequence.addDamaged();
        break;
      case "event":
        this.#firstSeq ??= line.event.seq;
        this.#sequence.add(line.event.seq, line.event, accepted);
        break;
      case "foreign":
        this.#firstSeq ??= line.seq;
        this.#sequence.add(line.seq, undefined, accepted);
        break;
    }
  }
}

/** A copy with twice the size. */
function enlarged(buffer: Buffer): Buffer {
  const larger = Buffer.allocUnsafe(buffer.length * 2);
  buffer.copy(larger);
  return larger;
}

interface Pending {
  readonly seq: number;
  /** Absent for a record of a later version, which only takes its number. */
  readonly event: StoredEvent | undefined;
  /** The number of unreadable lines right before it. */
  readonly unreadable: number;
}

/** This many increasing numbers in a row are accepted even if each of them leaves a gap. */
const MAX_PENDING = 16;

/**
 * Checks that the numbers of a log increase, and counts what is damaged. A number that jumps ahead is accepted only when
 * the next record continues from there, so that a flipped digit does not hide everything after it.
 */
export class Sequence {
  #last: number;
  #records = 0;
  #missing = 0;
  /** Unreadable lines since the last record that is pending or accepted. */
  #unreadable = 0;
  /** Increasing, each after a gap; dropped if a later record shows that they jumped ahead. */
  #pending: Pending[] = [];

  constructor(last: number) {
    this.#last = last;
  }

  /** The highest accepted number. */
  get last(): number {
    return this.#last;
  }

  get damage(): Damage {
    return { records: this.#records, missing: this.#missing };
  }

  /** Counts an unreadable line. */
  addDamaged(): void {
    this.#unreadable += 1;
  }

  /**
   * Adds a readable record, without its event if a later version of Flint wrote it. It and the pending ones are added to
   * `accepted` once their numbers are certain.
   */
  add(seq: number, event: StoredEvent | undefined, accepted: StoredEvent[]): void {
    if (seq <= this.#last) {
      this.addDamaged();
      return;
    }
    if (seq === this.#last + 1 && this.#unreadable === 0 && this.#pending.length === 0) {
      this.#last = seq;
      if (event !== undefined) accepted.push(event);
      return;
    }
    this.#dropFrom(seq);
    const before = this.#pending.at(-1)?.seq ?? this.#last;
    const isExplained = seq - before - 1 <= this.#unreadable;
    this.#pending.push({ seq, event, unreadable: this.#unreadable });
    this.#unreadable = 0;
    if (isExplained || this.#pending.length === MAX_PENDING) this.#accept(accepted);
  }

  /** Ends the log. Returns the number of unreadable lines after the last record. */
  end(accepted: StoredEvent[]): number {
    this.#accept(accepted);
    const trailing = this.#unreadable;
    this.#records += trailing;
    this.#unreadable = 0;
    return trailing;
  }

  /** Drops pending numbers that a later record does not exceed: they were wrong. */
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

  #accept(accepted: StoredEvent[]): void {
    for (const { seq, event, unreadable } of this.#pending) {
      this.#records += unreadable;
      this.#missing += Math.max(0, seq - this.#last - 1 - unreadable);
      this.#last = seq;
      if (event !== undefined) accepted.push(event);
    }
    this.#pending = [];
  }
}
