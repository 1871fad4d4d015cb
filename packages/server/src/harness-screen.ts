/** What arrives in pieces, each item on lines of its own. Pieces that come twice are shown once. */
export class HarnessScreen {
  readonly #write: (text: string) => void;
  readonly #shown = new Map<string, number>();
  #current: string | undefined;
  #lineOpen = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** A line of its own. */
  line(text: string): void {
    this.endLine();
    this.#put(`${text}\n`);
  }

  /** A piece of the text of an item, which begins at `offset` of it or where the last piece ended. */
  text(itemId: string, piece: string, offset?: number): void {
    const shown = this.#shown.get(itemId) ?? 0;
    const start = offset ?? shown;
    const fresh = piece.slice(Math.max(0, shown - start));
    if (fresh === "") return;
    if (this.#current !== itemId) this.endLine();
    this.#current = itemId;
    this.#shown.set(itemId, start + piece.length);
    this.#put(fresh);
  }

  /** The whole text of an item is known: shows what was not streamed. */
  endText(itemId: string, whole: string): void {
    this.text(itemId, whole, 0);
    if (this.#current === itemId) this.endLine();
    this.#shown.delete(itemId);
  }

  /** Ends the open line, if there is one. */
  endLine(): void {
    if (this.#lineOpen) this.#put("\n");
    this.#current = undefined;
  }

  #put(text: string): void {
    this.#lineOpen = !text.endsWith("\n");
    this.#write(showable(text));
  }
}

const FIRST_PICTURE = 0x2400;
const DELETE_PICTURE = "\u2421";

/** Text that a terminal shows and never obeys: control characters become pictures, except tab and newline. */
export function showable(text: string): string {
  return text.replace(/\r(?=\n)/gu, "").replace(/[^\P{Cc}\t\n]/gu, pictureOf);
}

function pictureOf(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(FIRST_PICTURE + code);
  return code === 0x7f ? DELETE_PICTURE : "\ufffd";
}
