import { cutLine, wrapLine } from "./fit.ts";
import { type Line, lineOf } from "./line.ts";
import type { Look } from "./look.ts";
import { marksFor } from "./marks.ts";

/** Lines that belong together: first those that are shown whole on as many rows as they need, then those that are cut. */
export interface Block {
  readonly head: readonly Line[];
  readonly body?: readonly Line[] | undefined;
  /** How far further rows of a long line are indented. */
  readonly indent?: number | undefined;
}

/** The rows of the screen that a block takes. */
export function rowsOf({ head, body = [], indent = 0 }: Block, look: Look): Line[] {
  const sign = marksFor(look.unicode).more;
  return [
    ...head.flatMap((line) => wrapLine(line, look.columns, indent)),
    ...body.map((line) => cutLine(line, look.columns, sign)),
  ];
}

/** The first lines of many, and a word about how many more there are. */
export function foldAfter(lines: readonly Line[], most: number, look: Look): Line[] {
  // A sign for one hidden line would take as much room as that line.
  if (lines.length <= most + 1) return [...lines];
  return [...lines.slice(0, most), moreLines(lines.length - most, look)];
}

/** A word about lines that are not shown. */
export function moreLines(hidden: number, look: Look): Line {
  return lineOf(`${marksFor(look.unicode).more} ${hidden} more line${hidden === 1 ? "" : "s"}`, "dim");
}
