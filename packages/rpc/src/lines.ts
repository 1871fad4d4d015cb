import { allocate, decodeText, encodeText, isUtf8, viewOf, wellFormed } from "./bytes.ts";

const LF = 10;
const CR = 13;
const SPACE = 32;
const BYTE_ORDER_MARK = 0xfeff;
const MOST_BYTES_PER_CODE_UNIT = 3;
const FIRST_SIZE = 4096;
const RETAINED_SIZE = 65_536;
const NOTHING = new Uint8Array(0);

/** The reason one line was not delivered: it is not UTF-8, or it has more bytes than the limit. */
export type LineFault = { kind: "encoding" | "oversize"; bytes: number; limit?: number };

/** The limit and the callbacks of a reader, called in the order of the lines. They must not throw. */
export type LineReaderOptions = {
  /** Most bytes before the LF, a CR included. */
  limit: number;
  line(text: string): void;
  fault(fault: LineFault): void;
  /** Called once after each push that delivered a line or a fault. */
  batchEnd?(): void;
};

/**
 * Cuts a byte stream into LF lines, whatever the chunk boundaries. A line that is not UTF-8 or too long costs exactly
 * itself, in its place among the good ones, and memory stays under the limit. Blank lines, a CR at the end and a byte
 * order mark at the start are dropped.
 */
export class LineReader {
  readonly #options: LineReaderOptions;
  readonly #partial: PartialLine;
  #delivered = false;
  // The first half of a surrogate pair that a string chunk was cut in.
  #halfPair = "";

  constructor(options: LineReaderOptions) {
    this.#options = options;
    this.#partial = new PartialLine(options.limit);
  }

  /** Bytes of memory held for a line that has not ended. */
  get buffered(): number {
    return this.#partial.capacity;
  }

  /** Takes the next chunk and delivers the lines it completes. The chunk may be reused afterwards. */
  push(chunk: Uint8Array | string): void {
    if (typeof chunk === "string") this.#pushText(chunk);
    else this.#pushBytes(viewOf(chunk));
    this.#endBatch();
  }

  /** The stream is over: delivers a last line that has no LF. */
  end(): void {
    this.#settleHalfPair();
    if (this.#partial.seen > 0) this.#finishPartial();
    this.#endBatch();
  }

  #pushText(chunk: string): void {
    let text = this.#halfPair + chunk;
    this.#halfPair = "";
    if (endsInsidePair(text)) {
      this.#halfPair = text.slice(-1);
      text = text.slice(0, -1);
    }
    const surelyFits = text.length * MOST_BYTES_PER_CODE_UNIT <= this.#options.limit;
    if (surelyFits && this.#partial.seen === 0 && text.endsWith("\n")) {
      this.#textLines(wellFormed(text).slice(0, -1));
    } else {
      this.#splitBytes(encodeText(text));
    }
  }

  #pushBytes(bytes: Uint8Array): void {
    this.#settleHalfPair();
    this.#splitBytes(bytes);
  }

  #splitBytes(bytes: Uint8Array): void {
    const first = bytes.indexOf(LF);
    if (first === -1) {
      this.#partial.append(bytes);
      return;
    }
    let start = 0;
    if (this.#partial.seen > 0) {
      this.#partial.append(bytes.subarray(0, first));
      this.#finishPartial();
      start = first + 1;
    }
    const last = bytes[bytes.length - 1] === LF ? bytes.length - 1 : bytes.lastIndexOf(LF);
    if (start < last) this.#wholeLines(bytes, start, last);
    if (last + 1 < bytes.length) this.#partial.append(bytes.subarray(last + 1));
  }

  /** No character crosses a LF in UTF-8, so many lines are checked and decoded as one; only a bad batch goes line by line. */
  #wholeLines(chunk: Uint8Array, from: number, to: number): void {
    // A view of a chunk costs as much as reading a short line, and most chunks are nothing but whole lines.
    const bytes = from === 0 && to === chunk.length - 1 ? chunk : chunk.subarray(from, to);
    if (to - from <= this.#options.limit && isUtf8(bytes)) {
      this.#textLines(decodeText(chunk, from, to));
      return;
    }
    let start = from;
    for (let end = chunk.indexOf(LF, start); end !== -1 && end < to; end = chunk.indexOf(LF, start)) {
      this.#byteLine(chunk.subarray(start, end));
      start = end + 1;
    }
    this.#byteLine(chunk.subarray(start, to));
  }

  #textLines(text: string): void {
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      this.#deliver(text.slice(start, end));
      start = end + 1;
    }
    this.#deliver(start === 0 ? text : text.slice(start));
  }

  #finishPartial(): void {
    const bytes = this.#partial.seen;
    const line = this.#partial.take();
    if (line === undefined) this.#refuseOversize(bytes);
    else this.#byteLine(line);
  }

  #byteLine(bytes: Uint8Array): void {
    if (bytes.length > this.#options.limit) this.#refuseOversize(bytes.length);
    else if (isUtf8(bytes)) this.#deliver(decodeText(bytes, 0, bytes.length));
    else this.#refuse({ kind: "encoding", bytes: bytes.length });
  }

  #deliver(raw: string): void {
    const start = raw.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0;
    const end = raw.charCodeAt(raw.length - 1) === CR ? raw.length - 1 : raw.length;
    const text = start === 0 && end === raw.length ? raw : raw.slice(start, end);
    if (text.length === 0 || (text.charCodeAt(0) <= SPACE && text.trim() === "")) return;
    this.#delivered = true;
    this.#options.line(text);
  }

  #refuseOversize(bytes: number): void {
    this.#refuse({ kind: "oversize", bytes, limit: this.#options.limit });
  }

  #refuse(fault: LineFault): void {
    this.#delivered = true;
    this.#options.fault(fault);
  }

  #settleHalfPair(): void {
    if (this.#halfPair === "") return;
    const replaced = encodeText(this.#halfPair);
    this.#halfPair = "";
    this.#partial.append(replaced);
  }

  #endBatch(): void {
    if (!this.#delivered) return;
    this.#delivered = false;
    this.#options.batchEnd?.();
  }
}

function endsInsidePair(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

/**
 * The start of a line whose end has not been seen yet. Holds at most `limit` bytes: a longer line is only counted.
 * One buffer that doubles, because a peer that writes byte by byte would make a list of pieces cost far more than
 * the bytes themselves.
 */
class PartialLine {
  readonly #limit: number;
  #buffer: Uint8Array = NOTHING;
  #held = 0;
  #seen = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes of this line so far, including those that were dropped. */
  get seen(): number {
    return this.#seen;
  }

  /** Bytes of memory in use for this line. */
  get capacity(): number {
    return this.#buffer.length;
  }

  /** Copies the next bytes of the line, so the caller may reuse its buffer. */
  append(piece: Uint8Array): void {
    this.#seen += piece.length;
    if (this.#seen > this.#limit) {
      this.#buffer = NOTHING;
      this.#held = 0;
      return;
    }
    this.#reserve(this.#held + piece.length);
    this.#buffer.set(piece, this.#held);
    this.#held += piece.length;
  }

  /** The whole line; the bytes are valid until the next append. Undefined when it was longer than the limit. */
  take(): Uint8Array | undefined {
    const line = this.#seen > this.#limit ? undefined : this.#buffer.subarray(0, this.#held);
    this.#held = 0;
    this.#seen = 0;
    if (this.#buffer.length > RETAINED_SIZE) this.#buffer = NOTHING;
    return line;
  }

  #reserve(size: number): void {
    if (size <= this.#buffer.length) return;
    const doubled = Math.max(FIRST_SIZE, this.#buffer.length * 2, size);
    const grown = allocate(Math.min(doubled, this.#limit));
    grown.set(this.#buffer.subarray(0, this.#held));
    this.#buffer = grown;
  }
}
