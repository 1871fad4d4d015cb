import { LIMITS } from "@flint/protocol";

const HEAD = Math.floor(LIMITS.output * 0.75);
const TAIL = Math.floor(LIMITS.output * 0.2);

/** Keeps the beginning and the end of an output of any length in bounded memory, and counts the rest. */
export class KeptOutput {
  #head = "";
  #tail = "";
  #bytes = 0;
  #newlines = 0;
  #endsLine = true;

  /** Takes a piece, and gives back the part of it that belongs to the beginning and can be told at once. */
  add(piece: string): string {
    this.#count(piece);
    const told = piece.slice(0, wholeCharacters(piece, Math.max(0, HEAD - this.#head.length)));
    this.#head += told;
    this.#tail += piece.slice(told.length);
    // Cut rarely: each cut copies the whole end.
    if (this.#tail.length > 2 * TAIL) this.#tail = lastCharacters(this.#tail, TAIL);
    return told;
  }

  /** What is kept, with a line that says what is missing. */
  get text(): string {
    const { tail, omitted } = this.#end();
    return omitted === 0 ? this.#head + tail : `${this.#head}\n… ${omitted} bytes left out …\n${tail}`;
  }

  /** What is kept and does not belong to the beginning, which was told piece by piece. */
  get rest(): string {
    return this.text.slice(this.#head.length);
  }

  /** How much came in all, kept or not. */
  get printed(): { readonly bytes: number; readonly lines: number } {
    return { bytes: this.#bytes, lines: this.#newlines + (this.#endsLine ? 0 : 1) };
  }

  /** How many bytes are not kept. */
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
    const tail = lastCharacters(this.#tail, TAIL);
    return { tail, omitted: this.#bytes - Buffer.byteLength(this.#head) - Buffer.byteLength(tail) };
  }
}

/** At most this many UTF-16 units, without cutting a character in two. */
function wholeCharacters(text: string, limit: number): number {
  const isCut = limit > 0 && limit < text.length && /[\uD800-\uDBFF]/.test(text.charAt(limit - 1));
  return isCut ? limit - 1 : limit;
}

function lastCharacters(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.slice(text.length - limit);
  return /^[\uDC00-\uDFFF]/.test(last) ? last.slice(1) : last;
}
