import { ATOMS } from "./graphemes.ts";

/** A place in a text of several lines: a line and a code unit of it, always between graphemes. */
export interface TextPosition {
  readonly line: number;
  readonly at: number;
}

/** Two places with the text between them, the first one first. */
export interface Range {
  readonly from: TextPosition;
  readonly to: TextPosition;
}

/** The lines of a text; there is always one. */
export type Lines = readonly string[];

/** A text with a cursor; `anchor` is where a selection began. Immutable. */
export interface TextState {
  readonly lines: Lines;
  readonly cursor: TextPosition;
  readonly anchor?: TextPosition | undefined;
}

/** A text without a character. */
export const EMPTY: TextState = { lines: [""], cursor: { line: 0, at: 0 } };

/** Reports whether the first place is before the second. */
export function isBefore(first: TextPosition, second: TextPosition): boolean {
  return first.line < second.line || (first.line === second.line && first.at < second.at);
}

/** The range between two places in any order. */
export function rangeOf(first: TextPosition, second: TextPosition): Range {
  return isBefore(second, first) ? { from: second, to: first } : { from: first, to: second };
}

/** Reports whether nothing is between two places. */
export function isEmptyRange({ from, to }: Range): boolean {
  return from.line === to.line && from.at === to.at;
}

/** The end of a text. */
export function endOf(lines: Lines): TextPosition {
  const line = lines.length - 1;
  return { line, at: lines[line]?.length ?? 0 };
}

/** The text in a range. */
export function textIn(lines: Lines, { from, to }: Range): string {
  if (from.line === to.line) return lineAt(lines, from.line).slice(from.at, to.at);
  const first = lineAt(lines, from.line).slice(from.at);
  const last = lineAt(lines, to.line).slice(0, to.at);
  return [first, ...lines.slice(from.line + 1, to.line), last].join("\n");
}

/** Replaces a range. The cursor is behind what was inserted. */
export function replaceRange(lines: Lines, { from, to }: Range, text: string): TextState {
  const inserted = text.split("\n");
  const before = lineAt(lines, from.line).slice(0, from.at);
  const after = lineAt(lines, to.line).slice(to.at);
  const last = inserted.length - 1;
  const cursor = {
    line: from.line + last,
    at: (last === 0 ? before.length : 0) + (inserted[last]?.length ?? 0),
  };
  const middle = inserted.map(
    (line, index) => (index === 0 ? before : "") + line + (index === last ? after : ""),
  );
  return { lines: [...lines.slice(0, from.line), ...middle, ...lines.slice(to.line + 1)], cursor };
}

/** A line by its number. */
export function lineAt(lines: Lines, line: number): string {
  return lines[line] ?? "";
}

/** Text from outside: it cannot stand for attachments, has one kind of line ending, and does not end in half a character. */
export function cleaned(text: string, room: number): string {
  return text.replace(/\r\n?/g, "\n").slice(0, room).replace(ATOMS, "");
}
