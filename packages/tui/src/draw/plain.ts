import type { Row, RowFamily, RowStatus } from "@flint/view";
import { drawRow, type RowContext } from "./draw-row.ts";
import { type Line, type LineBlock, span, textOf } from "./line.ts";
import { type Marks, marksFor, type RenderOptions } from "./render-options.ts";

/** The word in front of a row; undefined for rows that begin with such a word themselves. */
const LABELS: Readonly<Record<RowFamily, string | undefined>> = {
  user: "You",
  message: "Agent",
  thought: undefined,
  command: "Command",
  change: "File",
  tool: "Tool",
  search: "Search",
  plan: undefined,
  review: undefined,
  notice: "Note",
  handoff: "Note",
  turn: "Turn",
  unknown: "Item",
};

const STATUS_WORDS: Readonly<Record<RowStatus, string>> = {
  completed: "",
  failed: " failed",
  declined: " declined",
  inProgress: " running",
};

/** The meaning of a mark in front of a line, when it is read aloud. */
const MARK_WORDS: Partial<Readonly<Record<keyof Marks, string>>> = {
  current: "Selected:",
  warning: "Warning:",
  failed: "Error:",
  again: "Note:",
  arrow: "Note:",
  done: "Done:",
  declined: "Declined:",
  running: "Running:",
  pending: "Pending:",
};

/** The lines of a completed row: with marks, or with words in plain mode. */
export function drawRowFor(row: Row, context: RowContext): LineBlock[] {
  const blocks = drawRow(row, context);
  const { look } = context;
  if (look.isPlain !== true) return blocks;
  const label = labelOf(row);
  return blocks.map((block, at) => (at === 0 ? labelled(block, label, look) : block));
}

/** The label of a row, such as `Command failed: `; empty if it has none. */
export function labelOf({ family, status }: Pick<Row, "family" | "status">): string {
  const label = LABELS[family];
  const isWork = family === "command" || family === "tool" || family === "change";
  return label === undefined ? "" : `${label}${isWork ? STATUS_WORDS[status] : ""}: `;
}

/** In plain mode, the block with a label instead of its mark. */
export function labelled(block: LineBlock, label: string, look: RenderOptions): LineBlock {
  if (look.isPlain !== true) return block;
  const [first, ...rest] = block.head;
  if (first !== undefined) return { ...block, head: [withLabel(first, label, look), ...rest] };
  const [inner = [], ...more] = block.body ?? [];
  return { ...block, body: [withLabel(inner, label, look), ...more] };
}

/** In plain mode, a notice whose mark is a word. */
export function plainModeNotice(block: LineBlock, look: RenderOptions): LineBlock {
  const [first, ...rest] = block.head;
  if (look.isPlain !== true || first === undefined) return block;
  return { ...block, head: [[span(plainModeText(first, look))], ...rest] };
}

/**
 * The text of a line of a menu, list or notice, with a word for the mark that it begins with and without the others. Not for
 * text of agents, in which the same characters mean something else.
 */
export function plainModeText(line: Line, look: RenderOptions): string {
  const words = wordsFor(look);
  const [first] = line;
  const word = first === undefined ? undefined : words.get(first.text.trim());
  const rest = word === undefined ? line : line.slice(1);
  const text = textOf(rest.filter((each, at) => at >= LEADING || !words.has(each.text.trim())));
  return (word === undefined ? text : `${word} ${text.trimStart()}`).trimEnd();
}

/** Marks stand among the first pieces of a line. */
const LEADING = 3;

function wordsFor({ unicode }: RenderOptions): ReadonlyMap<string, string> {
  const marks = marksFor(unicode);
  return new Map(
    Object.entries(MARK_WORDS).map(([name, word]) => [String(Reflect.get(marks, name)), word] as const),
  );
}

function withLabel(line: Line, label: string, look: RenderOptions): Line {
  const { spinner, between, more, minus, ...marks } = marksFor(look.unicode);
  const text = textOf(line);
  const mark = Object.values(marks).find((each) => text.startsWith(`${each} `)) ?? "";
  return [span(label + text.slice(mark.length).trimStart().replace(/^\$ /, ""))];
}
