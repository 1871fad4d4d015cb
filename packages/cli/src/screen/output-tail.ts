/** The end of an output, and how many lines came before it. */
export interface FoldedText {
  readonly lines: readonly string[];
  readonly hidden: number;
  /** How much was never kept; then nobody knows how many lines are hidden. */
  readonly omittedBytes?: number | undefined;
}

/** Longer than this no line is kept whole; nobody reads it on a screen. */
const LINE_LIMIT = 4_000;

/** The last lines of what streams in, however much that is. */
export class OutputTail {
  readonly #limit: number;
  #lines: string[] = [];
  #open = "";
  #hidden = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes the next piece. */
  add(piece: string): void {
    const lines = (this.#open + piece).split("\n");
    this.#open = (lines.pop() ?? "").slice(-LINE_LIMIT);
    for (const line of lines.slice(-this.#limit)) this.#lines.push(line.slice(0, LINE_LIMIT));
    this.#hidden += Math.max(0, lines.length - this.#limit);
    const over = this.#lines.length - this.#limit;
    if (over <= 0) return;
    this.#lines = this.#lines.slice(over);
    this.#hidden += over;
  }

  /** The last lines, at most so many, the unfinished one included. */
  last(most: number = this.#limit): FoldedText {
    const lines = this.#open === "" ? this.#lines : [...this.#lines, this.#open];
    const shown = lines.slice(-most);
    return { lines: shown, hidden: this.#hidden + lines.length - shown.length };
  }
}

/** The last lines of a text, at most so many. Empty lines at its end do not count. */
export function lastLines(text: string, most: number): FoldedText {
  const tail = new OutputTail(most);
  tail.add(text.replace(/\s*\n\s*$/, ""));
  return tail.last();
}
