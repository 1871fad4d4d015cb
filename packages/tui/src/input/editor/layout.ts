import { escapeControls } from "@flint/view";
import { cellsOf, textWidth } from "../../draw/line.ts";
import { isAtom } from "./graphemes.ts";
import { isBefore, type Lines, type Range, type TextPosition } from "./text.ts";

/** A piece of a row: plain, an attachment's label, or selected. */
export interface RowPiece {
  readonly text: string;
  readonly kind: "text" | "attachment" | "selected";
}

/** One row of the screen. */
export type TextRow = readonly RowPiece[];

/** A text as it is drawn: its rows, and where the cursor is among them, counted from 0. */
export interface TextLayout {
  readonly rows: readonly TextRow[];
  readonly cursor: { readonly row: number; readonly column: number };
}

/** A grapheme as it is drawn. */
interface Glyph {
  readonly at: number;
  readonly end: number;
  readonly text: string;
  readonly width: number;
  readonly isAtom: boolean;
}

/** The part of a line on one row, with the glyphs on it. */
interface RowSpan {
  readonly line: number;
  readonly from: number;
  readonly to: number;
  readonly glyphs: readonly Glyph[];
}

const TAB_WIDTH = 4;
/** Lines whose rows are remembered, so that typing in a long text only wraps the line that changed. */
const MAX_CACHED = 2_000;

/** Wraps texts to a width, between words where possible, without dropping a space: every character has its place. */
export class TextWrapper {
  readonly #labelOf: (atom: string) => string;
  readonly #cache = new Map<string, readonly RowSpan[]>();
  #columns = 0;

  constructor(labelOf: (atom: string) => string) {
    this.#labelOf = labelOf;
  }

  /** Lays a text out. */
  layout(lines: Lines, cursor: TextPosition, columns: number, selection?: Range): TextLayout {
    const rows = this.#rows(lines, columns);
    const row = rowOf(rows, cursor);
    const column = columnIn(rows[row], cursor.at);
    return { rows: rows.map((each) => piecesOf(each, selection)), cursor: { row, column } };
  }

  /** The place a number of rows above or below, near a column; undefined if there is no such row. */
  vertical(
    lines: Lines,
    cursor: TextPosition,
    columns: number,
    by: number,
    goal?: number,
  ): VerticalMove | undefined {
    const rows = this.#rows(lines, columns);
    const row = rowOf(rows, cursor);
    const column = goal ?? columnIn(rows[row], cursor.at);
    const target = rows[row + by];
    if (target === undefined) return undefined;
    const isWrapped = rows[row + by + 1]?.line === target.line;
    return { position: placeIn(target, column, isWrapped), column };
  }

  #rows(lines: Lines, columns: number): readonly RowSpan[] {
    const width = Math.max(2, columns);
    if (width !== this.#columns) this.#cache.clear();
    this.#columns = width;
    return lines.flatMap((text, line) => this.#rowsOfLine(text, width).map((row) => ({ ...row, line })));
  }

  #rowsOfLine(text: string, width: number): readonly RowSpan[] {
    const known = this.#cache.get(text);
    if (known !== undefined) return known;
    const rows = wrap(glyphsOf(text, this.#labelOf), width);
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear();
    // The label of an attachment may change.
    if (!/\p{Cs}/u.test(text)) this.#cache.set(text, rows);
    return rows;
  }
}

/** The target of a vertical move, and the column that it aims at. */
export interface VerticalMove {
  readonly position: TextPosition;
  readonly column: number;
}

function glyphsOf(text: string, labelOf: (atom: string) => string): readonly Glyph[] {
  let at = 0;
  return cellsOf(text).map((cell) => {
    const atom = isAtom(cell.text);
    const shown = atom ? labelOf(cell.text) : shownAs(cell.text);
    const width = shown === cell.text ? cell.width : textWidth(shown);
    const glyph = { at, end: at + cell.text.length, text: shown, width, isAtom: atom };
    at = glyph.end;
    return glyph;
  });
}

/** Letters of some scripts are joined or separated by invisible characters; anywhere else these are shown. */
function shownAs(grapheme: string): string {
  if (grapheme === "\t") return " ".repeat(TAB_WIDTH);
  return /^\p{L}[\p{M}\u200c\u200d]*$/u.test(grapheme) ? grapheme : escapeControls(grapheme);
}

function wrap(glyphs: readonly Glyph[], columns: number): readonly RowSpan[] {
  const rows: RowSpan[] = [];
  for (let from = 0; ; ) {
    const end = rowEnd(glyphs, from, columns);
    const row = glyphs.slice(from, end);
    rows.push({ line: 0, from: row[0]?.at ?? 0, to: row.at(-1)?.end ?? 0, glyphs: row });
    from = end;
    if (from < glyphs.length) continue;
    // The cursor behind the last character needs a place.
    const last = row.at(-1);
    if (last !== undefined && widthOf(row) >= columns)
      rows.push({ line: 0, from: last.end, to: last.end, glyphs: [] });
    return rows;
  }
}

/** The end of a row: after the last space that fits, else where it is full. At least one glyph. */
function rowEnd(glyphs: readonly Glyph[], from: number, columns: number): number {
  let width = 0;
  let afterSpace = -1;
  for (let index = from; index < glyphs.length; index += 1) {
    const glyph = glyphs[index];
    width += glyph?.width ?? 0;
    if (width > columns) return afterSpace > from ? afterSpace : Math.max(from + 1, index);
    if (glyph?.text === " ") afterSpace = index + 1;
  }
  return glyphs.length;
}

/** The row of a place: where a row ends and the next one begins, it is the next one. */
function rowOf(rows: readonly RowSpan[], { line, at }: TextPosition): number {
  const index = rows.findLastIndex((row) => row.line === line && row.from <= at);
  return Math.max(0, index);
}

function columnIn(row: RowSpan | undefined, at: number): number {
  return widthOf(row?.glyphs.filter((glyph) => glyph.end <= at) ?? []);
}

/** The place on a row that is nearest to a column, at or before it. The end of a wrapped row is on the next one. */
function placeIn(row: RowSpan, column: number, isWrapped: boolean): TextPosition {
  let width = 0;
  for (const glyph of row.glyphs) {
    width += glyph.width;
    if (width > column) return { line: row.line, at: glyph.at };
  }
  const last = row.glyphs.at(-1);
  return { line: row.line, at: (isWrapped ? last?.at : last?.end) ?? row.from };
}

function widthOf(glyphs: readonly Glyph[]): number {
  return glyphs.reduce((sum, glyph) => sum + glyph.width, 0);
}

/** The pieces of rows without a selection, which are the same until their line changes. */
const PIECES = new WeakMap<readonly Glyph[], TextRow>();

function piecesOf(row: RowSpan, selection: Range | undefined): TextRow {
  if (selection !== undefined) return newPieces(row, selection);
  const pieces = PIECES.get(row.glyphs) ?? newPieces(row, undefined);
  PIECES.set(row.glyphs, pieces);
  return pieces;
}

function newPieces({ line, glyphs }: RowSpan, selection: Range | undefined): TextRow {
  const pieces: { text: string; kind: RowPiece["kind"] }[] = [];
  for (const glyph of glyphs) {
    const kind = kindOf(glyph, line, selection);
    const last = pieces.at(-1);
    if (last?.kind === kind) last.text += glyph.text;
    else pieces.push({ text: glyph.text, kind });
  }
  return pieces;
}

function kindOf(
  { at, isAtom: attached }: Glyph,
  line: number,
  selection: Range | undefined,
): RowPiece["kind"] {
  const position = { line, at };
  if (selection !== undefined && !isBefore(position, selection.from) && isBefore(position, selection.to))
    return "selected";
  return attached ? "attachment" : "text";
}

/** The text of a line of a layout. */
export function rowText(row: TextRow | undefined): string {
  return row?.map(({ text }) => text).join("") ?? "";
}
