import { marksFor, type RenderOptions } from "./render-options.ts";

/** The style of a piece of a line, on terminals with colours. */
export type Style =
  | "bold"
  | "dim"
  | "italic"
  | "boldItalic"
  | "underline"
  | "struck"
  | "inverse"
  | "red"
  | "green"
  | "yellow"
  | "blue"
  | "magenta"
  | "cyan"
  | "boldCyan";

/** A piece of a line in one style. Its text has no control characters. */
export interface Span {
  readonly text: string;
  readonly style?: Style | undefined;
  /** The target of a click, as returned by `linkTarget`. */
  readonly link?: string | undefined;
}

/** A line, before it is wrapped or cut to a width. */
export type Line = readonly Span[];

/** A piece of a line. */
export function span(text: string, style?: Style): Span {
  return style === undefined ? { text } : { text, style };
}

/** A line of one piece. */
export function lineOf(text: string, style?: Style): Line {
  return text === "" ? [] : [span(text, style)];
}

/** Each line of a text. */
export function linesOf(text: string, style?: Style): Line[] {
  return text.split("\n").map((each) => lineOf(each, style));
}

/** The line, indented by spaces. */
export function indented(line: Line, by: number): Line {
  return line.length === 0 || by === 0 ? line : [span(" ".repeat(by)), ...line];
}

/** The text of a line without its styles. */
export function textOf(line: Line): string {
  return line.map((each) => each.text).join("");
}

interface StyledCell extends Cell {
  /** The piece of the line that it belongs to. */
  readonly from: Span | undefined;
}

const TAB_STOP = 8;
/** A no-break space, which is written as a plain one. */
const FIXED_SPACE = "\u00a0";

/** Wraps a line to rows of at most this many columns, between words where possible; further rows are indented. */
export function wrapLine(line: Line, columns: number, indent = 0): Line[] {
  if (fits(line, columns)) return [line];
  const margin = Math.min(indent, Math.max(0, columns - 4));
  const cells = styledCells(line);
  const rows: Line[] = [];
  let from = 0;
  while (from < cells.length || rows.length === 0) {
    const first = rows.length === 0;
    const end = rowEnd(cells, from, first ? columns : columns - margin);
    const row = spansOf(cells.slice(from, end));
    rows.push(first ? row : indented(row, margin));
    // The spaces at the break are dropped.
    for (from = end; cells[from]?.text === " "; ) from += 1;
  }
  return rows;
}

/**
 * Reports whether a line can stay as it is. Most lines do, and checking that costs far less than looking at
 * each character.
 */
function fits(line: Line, columns: number): boolean {
  const text = textOf(line);
  if (text.length <= columns && ASCII.test(text)) return true;
  return !NEEDS_CELLS.test(text) && textWidth(text) <= columns;
}

/** Cuts a line to at most this many columns, with a mark at the end if anything was cut. */
export function cutLine(line: Line, columns: number, sign: string): Line {
  if (fits(line, columns)) return line;
  const cells = styledCells(line);
  if (widthOf(cells) <= columns) return spansOf(cells);
  const signCells = cellsOf(sign);
  const room = columns - signCells.length;
  if (room <= 0) return [span(sign.slice(0, columns), "dim")];
  return [...spansOf(cells.slice(0, fittingEnd(cells, 0, room))), span(sign, "dim")];
}

/** Splits the line into characters regardless of styles: a combining mark may have another style than its base. */
function styledCells(line: Line): StyledCell[] {
  const cells: StyledCell[] = [];
  const spanAt = spansAt(line);
  let position = 0;
  let column = 0;
  for (const cell of cellsOf(textOf(line))) {
    const from = spanAt(position);
    const wide = cell.text === "\t" ? TAB_STOP - (column % TAB_STOP) : 1;
    const shown = cell.text === "\t" ? { text: " ", width: 1 } : cell;
    for (let count = 0; count < wide; count += 1) cells.push({ ...shown, from });
    column += wide * shown.width;
    position += cell.text.length;
  }
  return cells;
}

/** Looks up the piece at an offset. Offsets must increase from call to call. */
function spansAt(line: Line): (position: number) => Span | undefined {
  let at = 0;
  let end = line[0]?.text.length ?? 0;
  return (position) => {
    for (; position >= end && at < line.length - 1; end += line[at]?.text.length ?? 0) at += 1;
    return line[at];
  };
}

/**
 * Returns the end of a row: after the last cell if all fit, else at the last space after a word, else where
 * it is full.
 */
function rowEnd(cells: readonly StyledCell[], from: number, columns: number): number {
  const end = fittingEnd(cells, from, columns);
  if (end === cells.length || cells[end]?.text === " ") return end;
  let space = end;
  let hasWord = false;
  for (let position = from; position < end; position += 1) {
    if (cells[position]?.text !== " ") hasWord = true;
    else if (hasWord) space = position;
  }
  return space;
}

/** Includes at least one cell, so that wrapping always terminates. */
function fittingEnd(cells: readonly StyledCell[], from: number, columns: number): number {
  let width = 0;
  for (let position = from; position < cells.length; position += 1) {
    width += cells[position]?.width ?? 0;
    if (width > columns) return Math.max(from + 1, position);
  }
  return cells.length;
}

function widthOf(cells: readonly StyledCell[]): number {
  return cells.reduce((sum, cell) => sum + cell.width, 0);
}

function spansOf(cells: readonly StyledCell[]): Line {
  const spans: Span[] = [];
  let open: { text: string; style: Style | undefined; link?: string } | undefined;
  for (const { text: cell, from } of cells) {
    const text = cell === FIXED_SPACE ? " " : cell;
    const { style, link } = from ?? {};
    if (open !== undefined && open.style === style && open.link === link) open.text += text;
    else {
      open = { text, style, ...(link === undefined ? {} : { link }) };
      spans.push(open);
    }
  }
  return spans;
}

/** One grapheme and the number of columns it takes. */
interface Cell {
  readonly text: string;
  readonly width: number;
}

const ASCII = /^[\x20-\x7e]*$/;
/** A tab, whose width depends on its place, and a no-break space, which is written as a plain one. */
const NEEDS_CELLS = /[\t\u00a0]/;
const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Regional_Indicator}{2}/u;
/** A soft hyphen takes a column on terminals, although it is a format character; so does what a control character becomes. */
const NO_WIDTH = /^(?!\u00ad)[\p{Mn}\p{Me}\p{Cf}\n]/u;
const WIDE =
  /^[\u1100-\u115f\u231a\u231b\u2e80-\u303e\u3041-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1d300}-\u{1d356}\u{1d360}-\u{1d376}\u{1f200}-\u{1f251}\u{20000}-\u{3fffd}]/u;

/** Characters that are never part of a larger one, of one column and of two. */
const NARROW =
  "\\x20-\\x7e\\u00a1-\\u00ac\\u00ae-\\u02ff\\u0370-\\u0482\\u048a-\\u052f\\u2010-\\u2027\\u2030-\\u205e\\u2190-\\u2319\\u2500-\\u25fc";
const DOUBLE = "\\u3001-\\u3029\\u3041-\\u3096\\u309b-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7a3\\uff01-\\uff60";
const SIMPLE = new RegExp(`^[${NARROW}${DOUBLE}]*$`);
const DOUBLES = new RegExp(`[${DOUBLE}]`, "g");
const IS_DOUBLE = new RegExp(`[${DOUBLE}]`);

let segmenter: Intl.Segmenter | undefined;

/** Splits text into graphemes with their widths. */
export function cellsOf(text: string): Cell[] {
  if (SIMPLE.test(text)) return simpleCells(text);
  return piecesOf(text).flatMap((piece) => (piece.isPlain ? plainCells(piece.text) : segmented(piece.text)));
}

function simpleCells(text: string): Cell[] {
  return Array.from(text, (character) => ({ text: character, width: IS_DOUBLE.test(character) ? 2 : 1 }));
}

function plainCells(text: string): Cell[] {
  return Array.from(text, (character) => ({ text: character, width: 1 }));
}

function segmented(text: string): Cell[] {
  // Created lazily: most text is ASCII.
  segmenter ??= new Intl.Segmenter();
  return Array.from(segmenter.segment(text), ({ segment }) => ({ text: segment, width: cellWidth(segment) }));
}

const PLAIN_RUN = /[\x20-\x7e]{2,}/g;

/** Runs of plain characters, which need no segmenting, and what is between. A mark may follow the last one of a run. */
function piecesOf(text: string): { readonly text: string; readonly isPlain: boolean }[] {
  if (ASCII.test(text)) return [{ text, isPlain: true }];
  const pieces: { text: string; isPlain: boolean }[] = [];
  let from = 0;
  const add = (to: number, isPlain: boolean) => {
    if (to > from) pieces.push({ text: text.slice(from, to), isPlain });
    from = to;
  };
  for (const { index, 0: run } of text.matchAll(PLAIN_RUN)) {
    const end = index + run.length;
    // A mark that stands before the run belongs to what is before it.
    add(index, false);
    add(end === text.length ? end : end - 1, true);
  }
  add(text.length, false);
  return pieces;
}

/** The width of a text in columns. */
export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  if (SIMPLE.test(text)) return text.length + (text.match(DOUBLES)?.length ?? 0);
  return piecesOf(text).reduce((sum, piece) => sum + pieceWidth(piece), 0);
}

function pieceWidth({ text, isPlain }: { readonly text: string; readonly isPlain: boolean }): number {
  return isPlain ? text.length : segmented(text).reduce((sum, cell) => sum + cell.width, 0);
}

function cellWidth(segment: string): number {
  if (EMOJI.test(segment) || WIDE.test(segment)) return 2;
  return NO_WIDTH.test(segment) ? 0 : 1;
}

/** Lines that belong together: the head is wrapped and shown in full, the lines of the body are cut. */
export interface LineBlock {
  readonly head: readonly Line[];
  readonly body?: readonly Line[] | undefined;
  /** Indentation of further rows of a long line. */
  readonly indent?: number | undefined;
}

/** The rows of the screen that a block takes. */
export function screenRows({ head, body = [], indent = 0 }: LineBlock, look: RenderOptions): Line[] {
  const sign = marksFor(look.unicode).more;
  return [
    ...head.flatMap((line) => wrapLine(line, look.columns, indent)),
    ...body.map((line) => cutLine(line, look.columns, sign)),
  ];
}

/** The first lines, and a note of how many more there are and how to see them. */
export function foldAfter(lines: readonly Line[], most: number, look: RenderOptions, how?: string): Line[] {
  // A note about one hidden line would take as much room as that line.
  if (lines.length <= most + 1) return [...lines];
  return [...lines.slice(0, most), moreLines(lines.length - most, look, how)];
}

/** A note about hidden lines, and how to see them. */
export function moreLines(hidden: number, look: RenderOptions, how?: string): Line {
  const note = `${marksFor(look.unicode).more} ${hidden} more line${hidden === 1 ? "" : "s"}`;
  return lineOf(how === undefined ? note : `${note} (${how})`, "dim");
}
