import type { Inline, MarkdownBlock } from "@flint/view/markdown";
import { type Line, lineOf, type Span, span, textOf, textWidth, wrapLine } from "./line.ts";
import type { RenderOptions } from "./render-options.ts";

type Table = Extract<MarkdownBlock, { kind: "table" }>;

/** Columns that would be narrower than this are not readable: the table becomes a list. */
const MIN_WIDTH = 8;

/** A table that fits the width: with its columns, with wrapped cells, or as a list of its rows, which is also how it is read aloud. */
export function tableRows(
  { head, rows, align }: Table,
  drawCell: (cell: readonly Inline[]) => Line,
  look: RenderOptions,
  columns: number,
): Line[] {
  const titles = head.map((cell) => bold(drawCell(cell)));
  const cells = rows.map((row) => row.map(drawCell));
  const between = look.unicode ? " │ " : " | ";
  const natural = titles.map((title, at) =>
    Math.max(1, ...[title, ...cells.map((row) => row[at] ?? [])].map((cell) => textWidth(textOf(cell)))),
  );
  const widths = fitted(natural, columns - between.length * (natural.length - 1));
  if (widths === undefined || look.isPlain === true) return asList(titles, cells, columns);
  const drawRow = (row: readonly Line[]) => rowLines(row, widths, align, between);
  const rule = widths
    .map((width) => (look.unicode ? "─" : "-").repeat(width))
    .join(look.unicode ? "─┼─" : "-+-");
  return [...drawRow(titles), lineOf(rule, "dim"), ...cells.flatMap(drawRow)];
}

function bold(line: Line): Line {
  return line.map((piece) => ({ ...piece, style: piece.style ?? "bold" }));
}

/** Takes from the widest columns what is too much; undefined if they would become too narrow. */
function fitted(natural: readonly number[], room: number): readonly number[] | undefined {
  const widths = [...natural];
  let over = widths.reduce((sum, width) => sum + width, 0) - room;
  while (over > 0) {
    const widest = Math.max(...widths);
    if (widest <= MIN_WIDTH) return undefined;
    widths[widths.indexOf(widest)] = widest - 1;
    over -= 1;
  }
  return widths;
}

function rowLines(
  row: readonly Line[],
  widths: readonly number[],
  align: Table["align"],
  between: string,
): Line[] {
  const cells = widths.map((width, at) => wrapLine(row[at] ?? [], width));
  const height = Math.max(1, ...cells.map((cell) => cell.length));
  return Array.from({ length: height }, (_, line) =>
    widths.flatMap((width, at) => {
      const isLast = at === widths.length - 1;
      const content = padded(cells[at]?.[line] ?? [], width, align[at], isLast);
      return at === 0 ? content : [span(between, "dim"), ...content];
    }),
  );
}

function padded(line: Line, width: number, align: Table["align"][number], isLast: boolean): Span[] {
  const missing = Math.max(0, width - textWidth(textOf(line)));
  const before = align === "right" ? missing : align === "center" ? Math.floor(missing / 2) : 0;
  // Nothing follows the last column.
  const after = isLast ? 0 : missing - before;
  return [...spaces(before), ...line, ...spaces(after)];
}

function spaces(count: number): Span[] {
  return count === 0 ? [] : [span(" ".repeat(count))];
}

/** Each row as lines of `title: value`, with an empty row between them. */
function asList(titles: readonly Line[], rows: readonly (readonly Line[])[], columns: number): Line[] {
  return rows.flatMap((row, at) => {
    const lines = titles.flatMap((title, place) =>
      wrapLine([...title, span(": "), ...(row[place] ?? [])], columns, 2),
    );
    return at === 0 ? lines : [[], ...lines];
  });
}
