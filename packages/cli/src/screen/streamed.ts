import { escapeControls } from "@flint/view";
import { type Line, lineOf, textOf } from "./line.ts";
import { wrapLine } from "./wrap.ts";

/** Half of a character or of a line end, an emoji, a space: what follows decides how, and on which row, it is shown. */
const UNDECIDED = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|\u200d|[\r \t]|[\ud800-\udbff])+$/u;

/** Text that arrives in pieces: rows that will not change any more, and the last one, which still may. */
export class StreamedText {
  #length = 0;
  #held = "";
  #open = "";
  #rows: Line[] = [];

  /** Takes a piece that starts at this place of the text; what was there before is not taken again. */
  add(piece: string, offset: number, columns: number): void {
    const fresh = piece.slice(Math.max(0, this.#length - offset));
    if (fresh === "") return;
    this.#length = Math.max(this.#length, offset + piece.length);
    const text = this.#held + fresh;
    const decided = text.search(UNDECIDED);
    this.#held = decided === -1 ? "" : text.slice(decided);
    this.#append(escapeControls(decided === -1 ? text : text.slice(0, decided)), columns);
  }

  /** Takes the rows that are final. */
  takeRows(): Line[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** The last row, which may still grow; empty at the start of a line. */
  get openRow(): Line {
    return lineOf(this.#open);
  }

  /** Nothing more comes: the last row is final too. */
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
    // Only the last row can change with what comes; so a line of any length costs no more than it is long.
    const rows = wrapLine(lineOf(last), columns);
    this.#rows.push(...rows.slice(0, -1));
    this.#open = textOf(rows.at(-1) ?? []);
  }
}

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
