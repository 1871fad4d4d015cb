/** How much of the output of a running command is shown at a time. */
const WINDOW = 8 * 1024;

/**
 * The end of a command's output while it runs. Clients without terminals get all of what is shown each time, so it is
 * shown again only when it has changed by a good part: the cost stays in proportion to the output.
 */
export class OutputWindow {
  #text = "";
  #fresh = 0;
  #end = 0;

  /** Takes a piece that starts at this place of the output. True if it is time to show the output again. */
  add(piece: string, offset: number): boolean {
    const known = Math.max(0, this.#end - offset);
    const added = piece.slice(known);
    if (added === "") return false;
    this.#text = `${this.#text}${added}`.slice(-WINDOW);
    this.#end = offset + piece.length;
    this.#fresh += added.length;
    if (this.#fresh * 4 < this.#text.length) return false;
    this.#fresh = 0;
    return true;
  }

  /** What is shown. */
  get text(): string {
    return this.#end > this.#text.length ? `…${this.#text}` : this.#text;
  }
}
