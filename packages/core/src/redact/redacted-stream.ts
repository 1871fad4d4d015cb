import { KEY_CHARACTERS, LONGEST_KEY } from "./key-formats.ts";
import { LONGEST_PRIVATE_KEY, PRIVATE_KEY_CHARACTERS } from "./private-keys.ts";
import type { Redactor } from "./redactor.ts";

/** How much of what was shown is looked at again: what keys begin with, and what may be before that, is shorter. */
const CONTEXT = 24;

/**
 * Redacts a text that comes in pieces. What every key of a kind begins with is no secret and is shown as it comes;
 * from then on nothing is shown until the key has ended, so that no half of one gets through.
 */
export class RedactedStream {
  readonly #redactor: Redactor;
  /** The end of what was shown. */
  #before = "";
  #held = "";
  /** What is dropped until something else comes: the rest of a key that was too long to wait for. */
  #dropping: RegExp | undefined;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** What can be shown now. */
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

  /** What is left when nothing more comes. */
  end(): string {
    return this.#show(this.#held, "");
  }

  #show(text: string, held: string, context = this.#before + text): string {
    this.#held = held;
    if (text === "") return "";
    const shown = this.#redactor.text(context);
    const known = shown.startsWith(this.#before) ? this.#before.length : sameLength(shown, this.#before);
    // What is cut off may have been a word; a key must not seem to begin where it was cut.
    this.#before = shown.length <= CONTEXT ? shown : `_${shown.slice(-CONTEXT)}`;
    return shown.slice(known);
  }
}

/** How far two texts are the same. */
function sameLength(left: string, right: string): number {
  let at = 0;
  while (at < right.length && left[at] === right[at]) at += 1;
  return at;
}
