/** How much of what was taken is looked for in an output whose start is cut off. */
const MARK = 512;

/** What is new in the output of a terminal, of which each answer has everything or, when that is too much, the end. */
export class TerminalText {
  #taken = 0;
  #mark = "";
  #isCut = false;

  /** What was printed since; nothing once the start is cut off, because that is compared only at the end. */
  next(output: string, truncated: boolean): string {
    this.#isCut ||= truncated;
    return this.#isCut ? "" : this.#take(output);
  }

  /** What is left of the final output. */
  last(output: string): string {
    if (!this.#isCut && output.length >= this.#taken && this.#continues(output)) return this.#take(output);
    const at = this.#mark === "" ? -1 : output.lastIndexOf(this.#mark);
    if (at >= 0) return output.slice(at + this.#mark.length);
    return this.#taken === 0 ? output : `\n(The editor kept only the end of the output.)\n${output}`;
  }

  #continues(output: string): boolean {
    return output.slice(0, this.#taken).endsWith(this.#mark);
  }

  #take(output: string): string {
    const added = output.slice(this.#taken);
    this.#taken = Math.max(this.#taken, output.length);
    this.#mark = output.slice(-MARK);
    return added;
  }
}
