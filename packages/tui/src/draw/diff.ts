import { type DiffBlock, type DiffLine, diffPairs, escapeExact } from "@flint/view";
import { cutLine, type Line, lineOf, type Style, span, textOf, textWidth } from "./line.ts";
import { marksFor, type RenderOptions } from "./render-options.ts";

const STYLES: Readonly<Record<DiffLine["kind"], Style | undefined>> = {
  hunk: "cyan",
  added: "green",
  removed: "red",
  context: undefined,
  note: "dim",
};

/** The lines of a diff in colour, as they are in the diff. */
export function diffLines({ lines }: Pick<DiffBlock, "lines">): Line[] {
  return lines.map(({ kind, text }) => lineOf(escapeDiffLine(text), STYLES[kind]));
}

/** The lines of a diff in colour, each with its number in the new file, or in the old one if it was removed. */
export function numberedDiff({ lines }: Pick<DiffBlock, "lines">): Line[] {
  const numbers = lines.map(({ oldLine, newLine }) => newLine ?? oldLine);
  if (numbers.every((number) => number === undefined)) return diffLines({ lines });
  const width = gutter(lines);
  return lines.map(({ kind, text }, at) => {
    const number = numbers[at] === undefined ? "" : String(numbers[at]);
    return [span(`${number.padStart(width)} `, "dim"), span(escapeDiffLine(text), STYLES[kind])];
  });
}

function gutter(lines: readonly DiffLine[]): number {
  const largest = Math.max(0, ...lines.map(({ oldLine = 0, newLine = 0 }) => Math.max(oldLine, newLine)));
  return String(largest).length;
}

/** Narrower columns are not readable. */
const MIN_SPLIT = 100;

/** Reports whether a diff can be shown in two columns. Read aloud, they would be mixed up. */
export function canSplit({ columns, isPlain }: Pick<RenderOptions, "columns" | "isPlain">): boolean {
  return columns >= MIN_SPLIT && isPlain !== true;
}

/** A diff in two columns, the old file on the left. Lines that are too long for their column are cut. */
export function splitDiff(block: Pick<DiffBlock, "lines">, look: RenderOptions, columns: number): Line[] {
  const width = gutter(block.lines);
  const room = Math.floor((columns - 3) / 2);
  const bar = span(look.unicode ? " │ " : " | ", "dim");
  return diffPairs(block).map(({ left, right }) => {
    const isWhole = left !== undefined && left === right && left.kind !== "context";
    if (isWhole) return lineOf(escapeDiffLine(left.text), STYLES[left.kind]);
    const half = (line: DiffLine | undefined, number: number | undefined) =>
      padded(halfLine(line, number, width, room, marksFor(look.unicode).more), room);
    return [...half(left, left?.oldLine), bar, ...half(right, right?.newLine)];
  });
}

function halfLine(
  line: DiffLine | undefined,
  number: number | undefined,
  width: number,
  room: number,
  more: string,
): Line {
  if (line === undefined) return [];
  const gutterSpan = span(`${(number === undefined ? "" : String(number)).padStart(width)} `, "dim");
  return cutLine([gutterSpan, span(escapeDiffLine(line.text), STYLES[line.kind])], room, more);
}

function padded(line: Line, width: number): Line {
  const missing = width - textWidth(textOf(line));
  return missing <= 0 ? line : [...line, span(" ".repeat(missing))];
}

/** Tabs are common in files and stay; everything else that is invisible is escaped. */
function escapeDiffLine(line: string): string {
  return line.split("\t").map(escapeExact).join("\t");
}
