import { escapeControls } from "@flint/view";
import {
  type CodePiece,
  type CodeState,
  highlightLine,
  type Inline,
  inlineText,
  type ListItem,
  type MarkdownBlock,
  parseMarkdown,
  START_OF_CODE,
} from "@flint/view/markdown";
import { indented, type Line, lineOf, type Span, type Style, span, textOf, wrapLine } from "./line.ts";
import type { RenderOptions } from "./render-options.ts";
import { linkTarget } from "./styled.ts";
import { tableRows } from "./table.ts";

/** Text of an agent is never squeezed into less than this. */
const MIN_COLUMNS = 12;
const MAX_RULE = 40;

/** The rows of Markdown, wrapped to the width. */
export function markdownLines(text: string, look: RenderOptions): Line[] {
  return markdownRows(parseMarkdown(text), look, look.columns);
}

/** The rows of blocks with an empty row between them. A block that is the same object is drawn once for each width. */
export function markdownRows(blocks: readonly MarkdownBlock[], look: RenderOptions, columns: number): Line[] {
  return blocks.flatMap((block, at) => {
    const rows = blockRows(block, look, columns);
    return at === 0 ? [...rows] : [[], ...rows];
  });
}

const drawn = new WeakMap<MarkdownBlock, { readonly as: string; readonly rows: readonly Line[] }>();

/** The rows of one block. */
export function blockRows(block: MarkdownBlock, look: RenderOptions, columns: number): readonly Line[] {
  const as = `${columns} ${look.colour} ${look.unicode} ${look.links?.host ?? ""}`;
  const known = drawn.get(block);
  if (known?.as === as) return known.rows;
  const rows = draw(block, look, columns);
  drawn.set(block, { as, rows });
  return rows;
}

function draw(block: MarkdownBlock, look: RenderOptions, columns: number): Line[] {
  switch (block.kind) {
    case "heading":
      return headingRows(block, look, columns);
    case "paragraph":
      return wrapped(inlineLines(block.inline, look), columns);
    case "code":
      return codeRows(block, columns);
    case "quote":
      return quoteRows(block.blocks, look, columns);
    case "list":
      return listRows(block, look, columns);
    case "table":
      return tableRows(block, (cell) => oneLine(inlineLines(cell, look)), look, columns);
    case "rule":
      return [lineOf((look.unicode ? "─" : "-").repeat(Math.min(columns, MAX_RULE)), "dim")];
  }
}

function wrapped(lines: readonly Line[], columns: number): Line[] {
  return lines.flatMap((line) => wrappedOnce(line, columns));
}

/** More lines than a screen has. */
const REMEMBERED = 400;
const wraps = new Map<string, Line[]>();

/** While a paragraph is written, only its last line changes from frame to frame; the others are not wrapped again. */
function wrappedOnce(line: Line, columns: number): Line[] {
  const [only, ...more] = line;
  if (only === undefined || more.length > 0 || only.text.length <= columns / 2)
    return wrapLine(line, columns);
  const key = `${columns} ${only.style ?? ""} ${only.link ?? ""} ${only.text}`;
  const known = wraps.get(key);
  if (known !== undefined) return known;
  const rows = wrapLine(line, columns);
  if (wraps.size >= REMEMBERED) wraps.clear();
  wraps.set(key, rows);
  return rows;
}

function oneLine(lines: readonly Line[]): Line {
  return lines.flatMap((line, at) => (at === 0 ? line : [span(" "), ...line]));
}

type Heading = Extract<MarkdownBlock, { kind: "heading" }>;

/** Without colours, the marks of a heading stay. */
function headingRows({ depth, inline }: Heading, look: RenderOptions, columns: number): Line[] {
  const style = depth <= 2 ? "boldCyan" : "bold";
  const lines = inlineLines(inline, look, style);
  if (look.colour) return wrapped(lines, columns);
  const mark = `${"#".repeat(depth)} `;
  return wrapped(
    lines.map((line) => [span(mark), ...line]),
    columns,
  );
}

function quoteRows(blocks: readonly MarkdownBlock[], look: RenderOptions, columns: number): Line[] {
  const bar = span(look.unicode ? "│ " : "> ", "dim");
  return markdownRows(blocks, look, Math.max(MIN_COLUMNS, columns - 2)).map((row) => [bar, ...row]);
}

type List = Extract<MarkdownBlock, { kind: "list" }>;

function listRows({ start, items }: List, look: RenderOptions, columns: number): Line[] {
  const marks = items.map((item, at) => markOf(item, start === undefined ? undefined : start + at, look));
  const width = Math.max(...marks.map((mark) => mark.length));
  return items.flatMap(({ blocks }, at) => {
    const mark = span((marks[at] ?? "").padStart(width), "cyan");
    const rows = itemRows(blocks, look, Math.max(MIN_COLUMNS, columns - width));
    return rows.map((row, place) => (place === 0 ? [mark, ...row] : indented(row, width)));
  });
}

function markOf({ checked }: ListItem, number: number | undefined, look: RenderOptions): string {
  const mark = number === undefined ? (look.unicode ? "• " : "- ") : `${number}. `;
  return checked === undefined ? mark : `${mark}[${checked ? "x" : " "}] `;
}

/** A list inside of an entry follows it directly; other blocks stand apart. */
function itemRows(blocks: readonly MarkdownBlock[], look: RenderOptions, columns: number): Line[] {
  const rows = blocks.flatMap((block, at) => {
    const own = blockRows(block, look, columns);
    return at === 0 || block.kind === "list" ? [...own] : [[], ...own];
  });
  return rows.length === 0 ? [[]] : rows;
}

type Code = Extract<MarkdownBlock, { kind: "code" }>;

const CODE_STYLES: Readonly<Record<CodePiece["kind"], Style | undefined>> = {
  plain: undefined,
  keyword: "magenta",
  string: "green",
  comment: "dim",
  number: "yellow",
  added: "green",
  removed: "red",
};

/** Code, indented and highlighted; from a line on, for code that was shown in part. */
export function codeRows({ text, language }: Code, columns: number, from = 0): Line[] {
  const lines = text.split("\n");
  let state: CodeState = START_OF_CODE;
  return lines.flatMap((source, at) => {
    const read = highlightLine(source, language, state);
    state = read.state;
    if (at < from) return [];
    const line = read.pieces.map(({ kind, text: piece }) => span(escapeControls(piece), CODE_STYLES[kind]));
    return wrapLine(line, Math.max(MIN_COLUMNS, columns - 2)).map((row) => indented(row, 2));
  });
}

/** Inline pieces as lines; a line break of the agent is one here too. */
function inlineLines(inline: readonly Inline[], look: RenderOptions, style?: Style): Line[] {
  const lines: Span[][] = [[]];
  for (const piece of inline.flatMap((each) => spansOf(each, look, style))) {
    for (const [at, text] of piece.text.split("\n").entries()) {
      if (at > 0) lines.push([]);
      if (text !== "") lines.at(-1)?.push({ ...piece, text });
    }
  }
  return lines;
}

function spansOf(piece: Inline, look: RenderOptions, style: Style | undefined): Line {
  switch (piece.kind) {
    case "text":
      return [span(escapeControls(piece.text), style)];
    case "code":
      // Without colours, the backticks say what it is.
      return [
        look.colour ? span(escapeControls(piece.text), "cyan") : span(`\`${escapeControls(piece.text)}\``),
      ];
    case "strong":
      return within(piece.inline, look, style === "italic" ? "boldItalic" : (bolder(style) ?? "bold"));
    case "emphasis":
      return within(piece.inline, look, style === "bold" ? "boldItalic" : (bolder(style) ?? "italic"));
    case "struck":
      return within(piece.inline, look, "struck");
    case "link":
      return linkSpans(piece, look, style);
    case "image":
      return [
        span(`[image${piece.alt === "" ? "" : ` ${escapeControls(piece.alt)}`}] `, "dim"),
        url(piece.url, look),
      ];
    case "break":
      return [span("\n")];
  }
}

/** A heading stays one. */
function bolder(style: Style | undefined): Style | undefined {
  return style === "boldCyan" ? style : undefined;
}

function within(inline: readonly Inline[], look: RenderOptions, style: Style): Line {
  return inline.flatMap((each) => spansOf(each, look, style));
}

/** The address is always shown, so that no link can claim to lead elsewhere. */
function linkSpans(
  { url: address, inline }: Extract<Inline, { kind: "link" }>,
  look: RenderOptions,
  style: Style | undefined,
): Line {
  const label = inlineText(inline);
  const shown = url(address, look);
  if (label === address || `mailto:${label}` === address) return [shown];
  const text = inline.flatMap((each) => spansOf(each, look, style)).map((each) => linked(each, shown.link));
  return label.trim() === "" ? [shown] : [...text, span(" ("), shown, span(")")];
}

function url(address: string, { links }: RenderOptions): Span {
  const shown = span(escapeControls(address).replaceAll("\n", " "), "underline");
  return linked(shown, links === undefined ? undefined : linkTarget(address, links));
}

function linked(piece: Span, link: string | undefined): Span {
  return link === undefined ? piece : { ...piece, link };
}

/** The text of rows, for copying and for tests. */
export function rowsText(rows: readonly Line[]): string {
  return rows.map(textOf).join("\n");
}
