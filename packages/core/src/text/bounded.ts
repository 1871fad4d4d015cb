import { LIMITS } from "@flint/protocol";

/** Share of a limit that the beginning of a text may take. */
export const HEAD_SHARE = 0.75;
/** Share that its end may take; the rest is for the line between them. */
export const TAIL_SHARE = 0.2;

/** The longest beginning of a text that takes at most so many bytes as UTF-8, without splitting a character. */
export function headOf(text: string, bytes: number): string {
  if (bytes <= 0) return "";
  if (Buffer.byteLength(text) <= bytes) return text;
  let at = 0;
  let room = bytes;
  // Piece by piece: a long text is not encoded as a whole.
  for (;;) {
    const piece = wholePiece(text, at);
    const size = Buffer.byteLength(piece);
    if (size > room) {
      const { read } = new TextEncoder().encodeInto(piece, new Uint8Array(room));
      return text.slice(0, at + read);
    }
    at += piece.length;
    room -= size;
  }
}

const PIECE = 65_536;

/** A piece of a text from a place on that does not end within a character. */
function wholePiece(text: string, at: number): string {
  const end = at + PIECE;
  const isSplit = (text.codePointAt(end - 1) ?? 0) > 0xffff;
  return text.slice(at, isSplit ? end - 1 : end);
}

/** The longest end of a text that takes at most so many bytes as UTF-8, without splitting a character. */
export function tailOf(text: string, bytes: number): string {
  if (bytes <= 0) return "";
  const end = Buffer.from(text.slice(-bytes));
  let start = Math.max(0, end.length - bytes);
  while (isContinuation(end[start])) start += 1;
  return end.toString("utf8", start);
}

/** Unit in which a text is measured: bytes of UTF-8, or characters of its string. */
type Unit = "bytes" | "characters";

const UNITS = {
  bytes: { sizeOf: (text: string) => Buffer.byteLength(text), head: headOf, tail: tailOf },
  characters: { sizeOf: (text: string) => text.length, head: firstCharacters, tail: lastCharacters },
} as const;

/**
 * Keeps the beginning and the end of a text that is too long, with a line between them that states the gap. The shares are
 * how much of the limit each of them gets.
 */
export function cutMiddle(
  text: string,
  limit: number,
  unit: Unit = "bytes",
  shares = { head: HEAD_SHARE, tail: TAIL_SHARE },
): { readonly text: string; readonly omitted: number } {
  const { sizeOf, head, tail } = UNITS[unit];
  const size = sizeOf(text);
  if (size <= limit) return { text, omitted: 0 };
  const first = head(text, Math.floor(limit * shares.head));
  const last = tail(text, Math.floor(limit * shares.tail));
  const omitted = size - sizeOf(first) - sizeOf(last);
  return { text: `${first}${gapLine(omitted, unit)}${last}`, omitted };
}

/** The beginning of a text without half of a surrogate pair. */
export function firstCharacters(text: string, count: number): string {
  return text.slice(0, count).replace(/[\ud800-\udbff]$/, "");
}

function lastCharacters(text: string, count: number): string {
  return text.slice(text.length - count).replace(/^[\udc00-\udfff]/, "");
}

/**
 * The line that stands for what is left out between the beginning and the end of a text. It is ASCII: one other
 * character would double the memory that every copy of a long text takes.
 */
function gapLine(omitted: number, unit: Unit = "bytes"): string {
  return `\n[... ${omitted} ${unit} left out ...]\n`;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

const HEAD_BYTES = Math.floor(LIMITS.output * HEAD_SHARE);
const TAIL_BYTES = Math.floor(LIMITS.output * TAIL_SHARE);

/**
 * Keeps the beginning and the end of a command's output in bounded memory, and counts the rest. The beginning can be
 * streamed as it comes; the end is only known when the command has finished.
 */
export class BoundedOutput {
  #head = "";
  #headBytes = 0;
  #tail = "";
  #bytes = 0;
  #newlines = 0;
  #endsLine = true;

  /** Adds a piece and returns the part of it that belongs to the beginning, which can be streamed at once. */
  add(piece: string): string {
    this.#count(piece);
    // Once something is in the tail, nothing after it can belong to the beginning.
    const streamed = this.#tail === "" ? headOf(piece, HEAD_BYTES - this.#headBytes) : "";
    this.#head += streamed;
    this.#headBytes += Buffer.byteLength(streamed);
    this.#tail += piece.slice(streamed.length);
    // Cut rarely: each cut copies the whole tail.
    if (this.#tail.length > 2 * TAIL_BYTES) this.#tail = tailOf(this.#tail, TAIL_BYTES);
    return streamed;
  }

  /** The output within the limit, with a line that states how much is missing. */
  get text(): string {
    return this.#head + this.remainder;
  }

  /** The part of `text` after what `add` returned. */
  get remainder(): string {
    const { tail, omitted } = this.#end();
    return omitted === 0 ? tail : `${gapLine(omitted)}${tail}`;
  }

  /** Total output that the command has printed. */
  get printed(): { readonly bytes: number; readonly lines: number } {
    return { bytes: this.#bytes, lines: this.#newlines + (this.#endsLine ? 0 : 1) };
  }

  /** The number of bytes that are not in `text`. */
  get omittedBytes(): number {
    return this.#end().omitted;
  }

  #count(piece: string): void {
    if (piece === "") return;
    this.#bytes += Buffer.byteLength(piece);
    for (let at = piece.indexOf("\n"); at !== -1; at = piece.indexOf("\n", at + 1)) this.#newlines += 1;
    this.#endsLine = piece.endsWith("\n");
  }

  #end(): { readonly tail: string; readonly omitted: number } {
    const tail = tailOf(this.#tail, TAIL_BYTES);
    return { tail, omitted: this.#bytes - this.#headBytes - Buffer.byteLength(tail) };
  }
}
