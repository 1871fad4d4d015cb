import { KEY_CHARACTERS, LONGEST_KEY } from "./key-formats.ts";
import { LONGEST_PRIVATE_KEY, PRIVATE_KEY_CHARACTERS } from "./private-keys.ts";
import type { Redactor } from "./redactor.ts";

/** How much of the text already shown is checked again; longer than any key prefix and what may precede it. */
const CONTEXT = 24;

/**
 * Redacts text that comes in pieces. The prefix that all keys of a kind share is shown as it comes; from there on
 * nothing is shown until the key has ended, so that no part of it gets through.
 */
export class RedactedStream {
  readonly #redactor: Redactor;
  /** The end of the text already shown. */
  #before = "";
  #held = "";
  /** Matches the rest of a key that was too long to wait for; it is dropped. */
  #dropping: RegExp | undefined;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Adds a piece and returns the text that can be shown now. */
  push(piece: string): string {
    let text = this.#held + piece;
    if (this.#dropping !== undefined) {
      text = text.replace(this.#dropping, "");
      if (text === "") return "";
      this.#dropping = undefined;
    }
    const context = this.#before + text;
    const start = this.#redactor.unfinishedAt(context);
    if (start === context.length) return this.#show(text, "", context);
    const at = Math.max(0, start - this.#before.length);
    const isPrivateKey = context.startsWith("-----BEGIN", start);
    if (text.length - at > (isPrivateKey ? LONGEST_PRIVATE_KEY : LONGEST_KEY)) {
      this.#dropping = isPrivateKey ? PRIVATE_KEY_CHARACTERS : KEY_CHARACTERS;
      return this.#show(text, "");
    }
    return this.#show(text.slice(0, at), text.slice(at));
  }

  /** Returns the text that was held back, at the end of the stream. */
  end(): string {
    return this.#show(this.#held, "");
  }

  #show(text: string, held: string, context = this.#before + text): string {
    this.#held = held;
    if (text === "") return "";
    const shown = this.#redactor.text(context);
    const known = shown.startsWith(this.#before) ? this.#before.length : sameLength(shown, this.#before);
    // The cut may be inside a word, where no key starts; the underscore keeps it one.
    this.#before = shown.length <= CONTEXT ? shown : `_${shown.slice(-CONTEXT)}`;
    return shown.slice(known);
  }
}

/** The length of the common prefix. */
function sameLength(left: string, right: string): number {
  let at = 0;
  while (at < right.length && left[at] === right[at]) at += 1;
  return at;
}
