import { isUtf8 } from "node:buffer";
import type { StoredEvent } from "@flint/protocol";
import type { FileSystem } from "../files/file-system.ts";
import { decodeLine, type Line, type LogHeader, MAX_RECORD } from "./record.ts";
import type { Sequence } from "./sequence.ts";

const CHUNK = 1024 * 1024;
const LINE_END = 10;

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
