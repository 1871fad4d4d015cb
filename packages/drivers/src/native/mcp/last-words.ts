import { StringDecoder } from "node:string_decoder";
import { plain } from "./bounded-json.ts";
import type { Redaction } from "./redaction.ts";

// Much more is kept than is shown, so that a secret which the keeping cut in two is not in what is shown.
const KEPT = 64 * 1024;
const SHOWN_LINES = 8;
const SHOWN_CHARACTERS = 1000;

/** The end of what a server wrote to its error output, in bounded memory. */
export class LastWords {
  readonly #decoder = new StringDecoder("utf8");
  #text = "";

  /** Takes the next piece. */
  add(bytes: Buffer): void {
    this.#text += this.#decoder.write(bytes);
    // Cut rarely: each cut copies what is kept.
    if (this.#text.length > 2 * KEPT) this.#text = this.#text.slice(-KEPT);
  }

  /** The last lines for people, without secrets. */
  text(redaction: Redaction): string {
    const lines = redaction.apply(this.#text).split("\n");
    const shown = lines.filter((line) => line.trim() !== "").slice(-SHOWN_LINES);
    return plain(shown.join("\n").slice(-SHOWN_CHARACTERS), SHOWN_CHARACTERS);
  }
}
