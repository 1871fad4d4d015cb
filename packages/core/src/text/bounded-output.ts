import { LIMITS } from "@flint/protocol";
import { gapLine, HEAD_SHARE, headOf, TAIL_SHARE, tailOf } from "./bounded.ts";

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
    return this.#head + this.rest;
  }

  /** The part of `text` after what `add` returned. */
  get rest(): string {
    const { tail, omitted } = this.#end();
    return omitted === 0 ? tail : `${gapLine(omitted)}${tail}`;
  }

  /** How much the command has printed in total. */
  get printed(): { readonly bytes: number; readonly lines: number } {
    return { bytes: this.#bytes, lines: this.#newlines + (this.#endsLine ? 0 : 1) };
  }

  /** How many bytes are not in `text`. */
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
