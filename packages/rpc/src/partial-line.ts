import { Buffer } from "node:buffer";

const FIRST_SIZE = 4096;
const KEPT_SIZE = 65_536;

/**
 * The start of a line whose end has not been seen yet. Holds at most `limit` bytes: a longer line is only counted.
 * One buffer that doubles, because a peer that writes byte by byte would make a list of pieces cost far more than
 * the bytes themselves.
 */
export class PartialLine {
  readonly #limit: number;
  #buffer = Buffer.alloc(0);
  #held = 0;
  #seen = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes of this line so far, also those that were not kept. */
  get seen(): number {
    return this.#seen;
  }

  /** Bytes of memory in use for this line. */
  get capacity(): number {
    return this.#buffer.length;
  }

  /** Copies the next bytes of the line, so the caller may reuse its buffer. */
  append(piece: Buffer): void {
    this.#seen += piece.length;
    if (this.#seen > this.#limit) {
      this.#buffer = Buffer.alloc(0);
      this.#held = 0;
      return;
    }
    this.#reserve(this.#held + piece.length);
    piece.copy(this.#buffer, this.#held);
    this.#held += piece.length;
  }

  /** The whole line; the bytes are valid until the next append. Undefined when it was longer than the limit. */
  take(): Buffer | undefined {
    const line = this.#seen > this.#limit ? undefined : this.#buffer.subarray(0, this.#held);
    this.#held = 0;
    this.#seen = 0;
    if (this.#buffer.length > KEPT_SIZE) this.#buffer = Buffer.alloc(0);
    return line;
  }

  #reserve(size: number): void {
    if (size <= this.#buffer.length) return;
    const doubled = Math.max(FIRST_SIZE, this.#buffer.length * 2, size);
    const grown = Buffer.allocUnsafeSlow(Math.min(doubled, this.#limit));
    this.#buffer.copy(grown, 0, 0, this.#held);
    this.#buffer = grown;
  }
}
