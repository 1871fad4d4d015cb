/** The last lines of an output, and how many came before. */
export interface FoldedText {
  /** The first lines, before those that are hidden. */
  readonly head?: readonly string[] | undefined;
  readonly lines: readonly string[];
  readonly hidden: number;
  /** The number of bytes that were not stored; then the number of hidden lines is unknown. */
  readonly omittedBytes?: number | undefined;
}

/** Longer lines are cut. */
const MAX_LINE = 4_000;

/** Keeps the last lines of streamed output of any length. */
export class OutputTail {
  readonly #limit: number;
  #lines: string[] = [];
  #open = "";
  #hidden = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds the next piece. */
  add(piece: string): void {
    const lines = (this.#open + piece).split("\n");
    this.#open = (lines.pop() ?? "").slice(-MAX_LINE);
    for (const line of lines.slice(-this.#limit)) this.#lines.push(line.slice(0, MAX_LINE));
    this.#hidden += Math.max(0, lines.length - this.#limit);
    const over = this.#lines.length - this.#limit;
    if (over <= 0) return;
    this.#lines = this.#lines.slice(over);
    this.#hidden += over;
  }

  /** At most this many of the last lines, including the unfinished one. */
  last(most: number = this.#limit): FoldedText {
    const lines = this.#open === "" ? this.#lines : [...this.#lines, this.#open];
    const shown = lines.slice(-most);
    return { lines: shown, hidden: this.#hidden + lines.length - shown.length };
  }
}

/** At most this many of the last lines of a text, without trailing blank lines. */
export function lastLines(text: string, most: number): FoldedText {
  const tail = new OutputTail(most);
  tail.add(text.replace(/\s*\n\s*$/, ""));
  return tail.last();
}

/** The first and the last lines of a text, without trailing blank lines. */
export function headAndTail(text: string, first: number, last: number): FoldedText {
  const lines = text.replace(/\s*\n\s*$/, "").split("\n");
  const shown = lines.map((line) => line.slice(0, MAX_LINE));
  // A note about one hidden line would take as much room as that line.
  if (lines.length <= first + last + 1) return { lines: text === "" ? [] : shown, hidden: 0 };
  return { head: shown.slice(0, first), lines: shown.slice(-last), hidden: lines.length - first - last };
}
