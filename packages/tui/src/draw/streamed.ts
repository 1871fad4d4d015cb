import { escapeControls } from "@flint/view";
import { type Line, lineOf, textOf, wrapLine } from "./line.ts";

/** Half a character or line break, an emoji, or a space: what follows decides how, and on which row, it is shown. */
const UNDECIDED = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|\u200d|[\r \t]|[\ud800-\udbff])+$/u;

/** Streamed text: final rows, and the last row, which may still change. */
export class StreamedText {
  #length = 0;
  #held = "";
  #open = "";
  #rows: Line[] = [];

  /** Adds a piece that starts at this offset; text that was added before is skipped. */
  add(piece: string, offset: number, columns: number): void {
    const fresh = piece.slice(Math.max(0, this.#length - offset));
    if (fresh === "") return;
    this.#length = Math.max(this.#length, offset + piece.length);
    const text = this.#held + fresh;
    const decided = text.search(UNDECIDED);
    this.#held = decided === -1 ? "" : text.slice(decided);
    this.#append(escapeControls(decided === -1 ? text : text.slice(0, decided)), columns);
  }

  /** Returns the rows that became final since the last call. */
  takeRows(): Line[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** The last row, which may still grow; empty at the start of a line. */
  get openRow(): Line {
    return lineOf(this.#open);
  }

  /** Ends the text: the last row becomes final. */
  end(columns: number): void {
    this.#append(escapeControls(this.#held), columns);
    this.#held = "";
    if (this.#open !== "") this.#rows.push(lineOf(this.#open));
    this.#open = "";
  }

  #append(text: string, columns: number): void {
    const lines = (this.#open + text).split("\n");
    const last = lines.pop() ?? "";
    for (const line of lines) this.#rows.push(...wrapLine(lineOf(line), columns));
    // Only the last row can still change, so that the cost is linear in the length of a line.
    const rows = wrapLine(lineOf(last), columns);
    this.#rows.push(...rows.slice(0, -1));
    this.#open = textOf(rows.at(-1) ?? []);
  }
}

/** The last lines of an output, and how many came before. */
export interface FoldedText {
  readonly lines: readonly string[];
  readonly hidden: number;
  /** How many bytes were not stored; then the number of hidden lines is unknown. */
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
