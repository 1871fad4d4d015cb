import { visible } from "@flint/view";

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
    this.#write(visible(text));
  }
}
