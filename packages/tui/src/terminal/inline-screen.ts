import { type Line, textOf, textWidth } from "../draw/line.ts";
import type { RenderOptions } from "../draw/render-options.ts";
import { styled } from "../draw/styled.ts";
import { CURSOR, ERASE, FRAME, toColumn, up } from "./modes.ts";
import { ReflowedRows } from "./reflowed-rows.ts";

/** The position of the cursor: a row of the live rows and a column, both counted from 0. */
export interface CursorPosition {
  readonly row: number;
  readonly column: number;
}

/**
 * The bottom of a terminal's own screen: final rows scroll up into its scrollback, live rows below them are redrawn in
 * place, and the real cursor stands in them. Each frame is one write, and rows that did not change are not written.
 */
export class InlineScreen {
  readonly #write: (text: string) => void;
  readonly #look: () => RenderOptions;
  /** The live rows on the screen as they were written, and their widths in columns. */
  #drawn: readonly string[] = [];
  #widths: readonly number[] = [];
  #columns = 0;
  #rows = 0;
  /** The fewest rows that the terminal has had since the last frame. */
  #leastRows = 0;
  #cursor: CursorPosition | undefined;
  /** The live rows in xterm.js, if its width has changed since the last frame. */
  #reflowed: ReflowedRows | undefined;
  /** True if the width has changed since the last frame, although it may be the same again. */
  #isReflowed = false;

  constructor(write: (text: string) => void, look: () => RenderOptions) {
    this.#write = write;
    this.#look = look;
  }

  /** Adds final rows, replaces the live ones and places the cursor. Writes nothing if nothing has changed. */
  draw(final: readonly Line[], live: readonly Line[], cursor?: CursorPosition): void {
    const look = this.#look();
    const rows = live.map((line) => styled(line, look.colour, look.light));
    if (look.columns !== this.#columns) this.resized();
    const isSized = !this.#isReflowed;
    const isSameText = isSized && final.length === 0 && isSame(rows, this.#drawn);
    if (isSameText && isSamePlace(cursor, this.#cursor)) return;
    const widths = live.map((line) => textWidth(textOf(line)));
    const keep = isSized && final.length === 0 ? unchanged(this.#drawn, rows) : 0;
    const body = isSameText ? "" : this.#body(final, rows, widths, keep, look);
    const start = isSameText ? this.#toLast(look) : this.#toRow(keep, look);
    const end = this.#placeCursor(rows.length, cursor);
    this.#write(`${FRAME.begin}${CURSOR.hide}${start}${body}${end}${FRAME.end}`);
    this.#drawn = rows;
    this.#widths = widths;
    this.#columns = look.columns;
    this.#rows = look.rows;
    this.#leastRows = look.rows;
    this.#cursor = cursor;
    this.#isReflowed = false;
    this.#reflowed = undefined;
  }

  /** Notes a size between two frames. */
  resized(): void {
    const { columns, rows, isXtermJs } = this.#look();
    this.#leastRows = Math.min(this.#leastRows, rows);
    this.#isReflowed ||= columns !== this.#columns;
    if (!this.#isReflowed || isXtermJs !== true || this.#drawn.length === 0) return;
    this.#reflowed ??= new ReflowedRows(this.#widths, this.#columns, this.#place.row);
    this.#reflowed.resize(columns);
  }

  /** Takes over live rows that another screen has drawn. */
  adopt(live: readonly Line[], columns: number, cursor: CursorPosition): void {
    const look = this.#look();
    this.#drawn = live.map((line) => styled(line, look.colour, look.light));
    this.#widths = live.map((line) => textWidth(textOf(line)));
    this.#columns = columns;
    this.#rows = look.rows;
    this.#leastRows = look.rows;
    this.#cursor = cursor;
  }

  /** Removes the live rows and shows the cursor where they began. */
  clear(): void {
    const look = this.#look();
    const erase = this.#drawn.length === 0 ? "" : `${this.#toRow(0, look)}${this.#eraseFrom(0, look)}`;
    this.#write(`${FRAME.begin}${erase}${CURSOR.show}${FRAME.end}`);
    this.forget();
  }

  /** Leaves what is on the screen where it is: the next frame starts below the cursor's row, in its first column. */
  forget(): void {
    this.#drawn = [];
    this.#widths = [];
    this.#cursor = undefined;
    this.#reflowed = undefined;
  }

  /** Final rows and the live rows from `keep` on. Rows are overwritten, then erased to their end, so none is blank between. */
  #body(
    final: readonly Line[],
    rows: readonly string[],
    widths: readonly number[],
    keep: number,
    look: RenderOptions,
  ): string {
    const above = final.map((line) => {
      const text = styled(line, look.colour, look.light);
      return `${isFull(textWidth(textOf(line)), look) ? text : `${text}${ERASE.row}`}\r\n`;
    });
    const below = rows.slice(keep).map((text, index) => {
      return isFull(widths[keep + index] ?? 0, look) ? text : `${text}${ERASE.row}`;
    });
    // A full last row leaves the cursor on its last character, which must not be erased.
    const isLastFull = isFull(widths.at(-1) ?? 0, look);
    const text = above.join("") + below.join("\r\n");
    if (this.#drawn.length === 0) return text;
    return isLastFull ? `${this.#eraseFrom(keep, look)}${text}` : `${text}${ERASE.below}`;
  }

  /**
   * Erases the live rows from the start of one of them. A terminal that has to erase everything below its very first
   * character may take that for a new screen and keep the old one as scrollback, as tmux does, so that row goes alone.
   */
  #eraseFrom(row: number, look: RenderOptions): string {
    const rows = sum(this.#heights(look).slice(row));
    return rows < 2 ? ERASE.row : `${ERASE.row}${move(1)}${ERASE.below}${up(1)}`;
  }

  /** Moves from the cursor to the start of a live row. A terminal that became narrower has wrapped the rows above it. */
  #toRow(row: number, look: RenderOptions): string {
    if (this.#drawn.length === 0) return "";
    const at = this.#place;
    const heights = this.#heights(look);
    const skipped = sum(heights.slice(0, row));
    const above = sum(heights.slice(0, at.row));
    return `\r${move(skipped - above - this.#wrappedBelow(at, look))}`;
  }

  get #place(): CursorPosition {
    return this.#cursor ?? { row: this.#drawn.length - 1, column: this.#widths.at(-1) ?? 0 };
  }

  /** The number of rows that the cursor is below the start of its row: it may itself be on a wrapped row. */
  #wrappedBelow(at: CursorPosition, look: RenderOptions): number {
    if (look.isXtermJs !== true)
      return Math.floor(Math.min(at.column, Math.max(0, (this.#widths[at.row] ?? 0) - 1)) / look.columns);
    // xterm.js first drops the rows for which a lower screen has no room: how many those were is unknown, and a row too many
    // that is erased would be lost.
    if (this.#reflowed === undefined || this.#leastRows < this.#rows) return 0;
    return this.#reflowed.cursor - this.#reflowed.above(at.row);
  }

  #toLast(look: RenderOptions): string {
    return this.#drawn.length === 0 ? "" : this.#toRow(this.#drawn.length - 1, look);
  }

  #heights(look: RenderOptions): number[] {
    return this.#widths.map((width) => Math.max(1, Math.ceil(width / look.columns)));
  }

  /** From the last live row to the place of the cursor. */
  #placeCursor(rows: number, cursor: CursorPosition | undefined): string {
    if (cursor === undefined) return "";
    return `${up(rows - 1 - cursor.row)}${toColumn(cursor.column)}${CURSOR.show}`;
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function move(rows: number): string {
  return rows < 0 ? up(-rows) : rows > 0 ? `\u001b[${rows}B` : "";
}

function isFull(width: number, look: RenderOptions): boolean {
  return width >= look.columns;
}

function isSame(rows: readonly string[], drawn: readonly string[]): boolean {
  return rows.length === drawn.length && rows.every((row, index) => row === drawn[index]);
}

function isSamePlace(one: CursorPosition | undefined, other: CursorPosition | undefined): boolean {
  return one?.row === other?.row && one?.column === other?.column;
}

/**
 * Returns the number of unchanged rows at the start; at least the last drawn row is drawn again, to end
 * behind it.
 */
function unchanged(drawn: readonly string[], rows: readonly string[]): number {
  let same = 0;
  while (same < drawn.length - 1 && same < rows.length - 1 && drawn[same] === rows[same]) same += 1;
  return same;
}
