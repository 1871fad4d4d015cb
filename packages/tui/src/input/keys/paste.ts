import { LIMITS } from "@flint/protocol";
import type { Paste } from "./input-event.ts";

/** The sequence that ends a bracketed paste. */
export const PASTE_END = "\u001b[201~";

/** More than a prompt may have is not kept. */
const MAX_CHARACTERS = LIMITS.prompt;

/**
 * Collects a bracketed paste piece by piece. Memory and work stay bounded: what exceeds the limit is counted and dropped,
 * and every piece is looked at once.
 */
export class PasteCollector {
  readonly #pieces: string[] = [];
  #size = 0;
  #dropped = 0;
  /** The end of the last piece, if it may be the start of the end marker. */
  #held = "";

  /** Takes a piece. Returns what follows the end of the paste, or undefined if it continues. */
  add(piece: string): string | undefined {
    const text = this.#held + piece;
    const end = text.indexOf(PASTE_END);
    if (end !== -1) {
      this.#held = "";
      this.#keep(text.slice(0, end));
      return text.slice(end + PASTE_END.length);
    }
    const held = partialMarker(text);
    this.#held = text.slice(text.length - held);
    this.#keep(text.slice(0, text.length - held));
    return undefined;
  }

  /** The paste as it is so far. */
  finish(): Paste {
    return { type: "paste", text: pastedText(this.#pieces.join("")), dropped: this.#dropped };
  }

  #keep(text: string): void {
    const room = MAX_CHARACTERS - this.#size;
    const kept = text.length <= room ? text : wholeCharacters(text.slice(0, room));
    this.#dropped += text.length - kept.length;
    this.#size += kept.length;
    if (kept !== "") this.#pieces.push(kept);
    // Nothing may follow what was cut.
    if (kept.length < text.length) this.#size = MAX_CHARACTERS;
  }
}

/** Returns the number of characters at the end of a text that are the start of the end marker. */
function partialMarker(text: string): number {
  for (let length = Math.min(PASTE_END.length - 1, text.length); length > 0; length -= 1)
    if (PASTE_END.startsWith(text.slice(text.length - length))) return length;
  return 0;
}

function wholeCharacters(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}

/** Text from outside with `\n` as its only line ending and without control characters, except tabs. */
export function pastedText(text: string): string {
  return text.replace(/\r\n?|[\u2028\u2029\u0085]/g, "\n").replace(CONTROLS, "");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in a text
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
