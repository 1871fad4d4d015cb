import {
  type ApprovalPrompt,
  type Block,
  duration,
  escapeControls,
  escapeExact,
  oneLine,
  type Row,
  type RowFamily,
  type RowStatus,
  spanText,
  valueWords,
} from "@flint/view";
import { markdownOf } from "@flint/view/markdown";
import { diffLines, numberedDiff } from "./diff.ts";
import {
  changeSpans,
  commandLines,
  drawSpan,
  drawText,
  exactLine,
  imageLine,
  messageBlocks,
  metaSpans,
  outputLines,
  planLines,
  textLines,
  userBlock,
} from "./draw-blocks.ts";
import {
  foldAfter,
  indented,
  type Line,
  type LineBlock,
  lineOf,
  type Span,
  type Style,
  span,
} from "./line.ts";
import { markdownRows } from "./markdown.ts";
import { type Marks, marksFor, type RenderOptions } from "./render-options.ts";
import { type FoldedText, headAndTail } from "./streamed.ts";

const OUTPUT_HEAD = 3;
const OUTPUT_LINES = 10;
const COMMAND_LINES = 6;
const THOUGHT_LINES = 3;
const DIFF_LINES = 60;

/** The facts known about an item besides its row. */
export interface RowContext {
  readonly look: RenderOptions;
  /** Time for which the item was in progress, for rows without a duration. */
  readonly elapsedMs: number;
  /** The end of its streamed output, if it was streamed. */
  readonly output?: FoldedText | undefined;
  /** Paths in this folder are shown relative to it. */
  readonly cwd: string;
  /** True if the user has already seen its diff or arguments in an approval. */
  readonly seen: boolean;
  /** A hint at how to see folded content, such as `Ctrl-O shows all`. */
  readonly how?: string | undefined;
}

/** The lines of a completed row. */
export function drawRow(row: Row, context: RowContext): LineBlock[] {
  return FAMILIES[row.family](row, context);
}

type Draw = (row: Row, context: RowContext) => LineBlock[];

const FAMILIES: Readonly<Record<RowFamily, Draw>> = {
  user: (row, { look }) => [userBlock(row, look)],
  message: (row, { look }) => messageBlocks(row, look),
  thought: drawThought,
  command: drawCommand,
  change: drawChange,
  tool: drawTool,
  search: (row, { look }) => [titleLine(row, marksFor(look.unicode).search, "cyan")],
  plan: drawPlan,
  review: drawReview,
  notice: drawNotice,
  handoff: (row, { look }) => [titleLine(row, marksFor(look.unicode).arrow, "cyan", look)],
  turn: drawTurn,
  unknown: drawUnknown,
};

/** The mark in front of a row, in the colour of its status. */
export function statusMark(status: RowStatus, marks: Marks): Span {
  switch (status) {
    case "completed":
      return span(marks.done, "green");
    case "failed":
      return span(marks.failed, "red");
    case "declined":
      return span(marks.declined, "yellow");
    case "inProgress":
      return span(marks.running, "cyan");
  }
}

/** A tool call on one line: its name, and its arguments as text. */
export function callLine({ title, meta }: Pick<Row, "title" | "meta">, mark: Span): Line {
  return [mark, span(" "), ...title.map(drawSpan), ...metaSpans(meta)];
}

/** Draws an agent's request in full: never cut or folded. */
export function drawApproval(prompt: ApprovalPrompt, look: RenderOptions, cwd: string): LineBlock {
  const head = [span(marksFor(look.unicode).current, "yellow"), span(` ${exactLine(prompt.title)}`, "bold")];
  const place: Line[] = prompt.place === undefined ? [] : [[span("in ", "dim"), drawSpan(prompt.place)]];
  const subject =
    prompt.place === undefined ? prompt.subject.map((each) => [drawSpan(each)]) : shellLines(prompt);
  const body = prompt.body.flatMap((block) => wholeBlock(block, look, cwd));
  const reason = prompt.reason === undefined ? [] : [lineOf(`Reason: ${oneLine(prompt.reason)}`, "dim")];
  // What the agent says is shown as such; it may say anything.
  const why = prompt.why === undefined ? [] : [lineOf(`The agent says: ${oneLine(prompt.why)}`, "dim")];
  const after = prompt.after.map((line) => lineOf(oneLine(line), "yellow"));
  const lines = [...place, ...subject, ...body, ...reason, ...why, ...after];
  return { head: [head, ...lines.map((line) => indented(line, 2))], indent: 4 };
}

function shellLines({ subject }: ApprovalPrompt): Line[] {
  const [first = "", ...rest] = drawText(subject).split("\n");
  return [[span("$ ", "dim"), span(first, "bold")], ...rest.map((line) => lineOf(`  ${line}`, "bold"))];
}

function wholeBlock(block: Block, look: RenderOptions, cwd: string): Line[] {
  switch (block.kind) {
    case "diff":
      return [changeSpans(block, "inProgress", look, cwd), ...diffLines(block)];
    case "json":
      return jsonLines(block.value);
    case "plan":
      return planLines(block.entries, look);
    case "image":
      return [imageLine(block)];
    case "declined":
      return textLines(`${block.what}: ${block.reason}`);
    case "markdown":
      return markdownRows(markdownOf(block), look, look.columns - 2);
    case "text":
    case "error":
    case "output":
      return textLines(block.text);
  }
}

/** A value exactly as it is, for what has to be judged. */
function jsonLines(value: unknown): Line[] {
  return escapeExact(JSON.stringify(value, null, 2))
    .split("\n")
    .map((line) => lineOf(line));
}

function drawCommand(row: Row, context: RowContext): LineBlock[] {
  const { look, how } = context;
  const meta = row.meta.length === 0 ? "" : ` (${oneLine(spanText(row.meta))})`;
  const ended = `${endOf(row, context)}${meta}`.trim();
  const end = ended === "" ? undefined : span(`  ${ended}`, "dim");
  const lines = commandLines(row.title, statusMark(row.status, marksFor(look.unicode)), end);
  const isOpen = row.fold === "open";
  const output = outputLines(outputOf(row, context), look, how);
  const head = isOpen ? lines : foldAfter(lines, COMMAND_LINES, look, how);
  return [isOpen ? { head: [...head, ...output], indent: 4 } : { head, body: output, indent: 4 }];
}

/** The item has all of the output; what was streamed may be its beginning. */
function outputOf({ body, fold }: Row, { output }: RowContext): FoldedText {
  const block = body.find(({ kind }) => kind === "output");
  const { text = "", omittedBytes = 0 } = block?.kind === "output" ? block : {};
  if (output !== undefined && text === "" && omittedBytes === 0) return output;
  const most = fold === "open" ? Number.MAX_SAFE_INTEGER : OUTPUT_LINES - OUTPUT_HEAD;
  const folded = headAndTail(text, OUTPUT_HEAD, most);
  return omittedBytes === 0 ? folded : { ...folded, omittedBytes };
}

/** The outcome of a row and its duration; a success needs no word. */
function endOf({ status, outcome, durationMs }: Row, { elapsedMs }: RowContext): string {
  if (status === "declined") return "declined";
  const isShort = (durationMs ?? elapsedMs) === 0;
  const took = isShort ? "" : duration(durationMs ?? elapsedMs);
  if (status === "completed" || outcome === undefined) return took;
  return isShort ? outcome : `${outcome}, ${took}`;
}

function drawChange({ body, status, outcome, fold }: Row, context: RowContext): LineBlock[] {
  const { look, cwd, seen, how } = context;
  const mark = statusMark(status, marksFor(look.unicode));
  return body.flatMap((block) => {
    if (block.kind !== "diff") return [];
    const end = outcome === undefined ? [] : [span(`  ${outcome}`, "dim")];
    const head = [mark, span(" "), ...changeSpans(block, status, look, cwd), ...end];
    const all = numberedDiff(block);
    const lines = seen ? [] : fold === "open" ? all : foldAfter(all, DIFF_LINES, look, how);
    // Lines of a diff are wrapped, not cut: what was cut would be lost when the terminal becomes wider.
    return [{ head: [head, ...lines.map((line) => indented(line, 2))], indent: 6 }];
  });
}

function drawTool(row: Row, context: RowContext): LineBlock[] {
  const { look, seen, how } = context;
  const mark = statusMark(row.status, marksFor(look.unicode));
  const isOpen = row.fold === "open";
  const details = isOpen
    ? row.body.filter(({ kind }) => kind !== "error").flatMap((block) => detail(block, look))
    : [];
  const problem = row.body.flatMap((block) => (block.kind === "error" ? textLines(block.text, "red") : []));
  const folded = isOpen ? problem : foldAfter(problem, OUTPUT_LINES, look, how);
  const body = [...details, ...folded].map((line) => indented(line, 2));
  const head = callLine(seen ? { ...row, meta: [] } : row, mark);
  // The error says that it failed.
  const end = endOf(row.status === "failed" ? { ...row, outcome: undefined } : row, context);
  const first = end === "" ? head : [...head, span(`  ${end}`, "dim")];
  return [isOpen ? { head: [first, ...body], indent: 4 } : { head: [first], body, indent: 2 }];
}

/** A detail of a call as text: arguments as `name: value`, results as text. */
function detail(block: Block, look: RenderOptions): Line[] {
  if (block.kind !== "json") return wholeBlock(block, look, "");
  const { value } = block;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return textLines(valueWords(value));
  return Object.entries(value).flatMap(([name, inner]) =>
    textLines(`${name}: ${valueWords(inner)}`).map((line) => line.map(({ text }) => span(text, "dim"))),
  );
}

function drawThought({ body: [block], fold }: Row, { look, elapsedMs, how }: RowContext): LineBlock[] {
  if (block?.kind !== "markdown") return [];
  const [first = "", ...rest] = escapeControls(block.text)
    .split("\n")
    .filter((line) => line.trim() !== "");
  const mark = marksFor(look.unicode).thought;
  const took = elapsedMs === 0 ? "Thought" : `Thought for ${duration(elapsedMs)}`;
  const head = lineOf(`${mark} ${took}: ${first}`, "dim");
  const lines = rest.map((line) => lineOf(line, "dim"));
  if (fold === "open") return [{ head: [head, ...lines.map((line) => indented(line, 2))], indent: 2 }];
  const more = foldAfter(lines, THOUGHT_LINES - 1, look, how);
  return [{ head: [], body: [head, ...more.map((line) => indented(line, 2))] }];
}

function drawPlan({ title, body: [block] }: Row, { look }: RowContext): LineBlock[] {
  if (block === undefined) return [];
  const lines = block.kind === "plan" ? planLines(block.entries, look) : wholeBlock(block, look, "");
  const heading = lineOf(drawText(title), "bold");
  return [{ head: [heading, ...lines], indent: 4 }];
}

function drawReview(row: Row, { look }: RowContext): LineBlock[] {
  const head = titleLine(row, marksFor(look.unicode).current, "cyan");
  return [head, ...row.body.map((block) => ({ head: wholeBlock(block, look, "") }))];
}

/** Something that happened, with what was said about it. */
function drawNotice(row: Row, { look, how }: RowContext): LineBlock[] {
  const head = titleLine(row, marksFor(look.unicode).again, "dim");
  const end = row.outcome === undefined ? [] : [span(` ${row.outcome}`, "red")];
  const isOpen = row.fold === "open";
  // A summary of the context is for those who ask for it; what a hook says is for everyone.
  const shown = row.body.filter(({ kind }) => isOpen || kind === "text");
  const lines = shown.flatMap((block) => wholeBlock(block, look, ""));
  const folded = isOpen ? lines : foldAfter(lines, THOUGHT_LINES, look, how);
  const [first = []] = head.head;
  return [{ ...head, head: [[...first, ...end], ...folded.map((line) => indented(line, 2))] }];
}

/** An item of an unknown type: what it says of itself, and its fields when it is open. */
function drawUnknown(row: Row, { look }: RowContext): LineBlock[] {
  const head = titleLine(row, marksFor(look.unicode).running, "dim");
  if (row.fold !== "open") return [head];
  const fields = row.body.flatMap((block) => detail(block, look));
  return [{ ...head, head: [...head.head, ...fields.map((line) => indented(line, 2))] }];
}

/** The outcome of a turn, what it used, why it failed, and what was not allowed in it. */
function drawTurn(row: Row, { look }: RowContext): LineBlock[] {
  const marks = marksFor(look.unicode);
  const figures = row.meta.map(({ text }) => oneLine(text)).join(marks.between);
  const first: Line = [
    statusMark(row.status, marks),
    span(` ${drawText(row.title)}`, "bold"),
    ...(figures === "" ? [] : [span(` ${figures}`, "dim")]),
  ];
  const more = row.body.flatMap((block): Line[] => {
    if (block.kind === "error") return textLines(block.text, "red");
    if (block.kind !== "declined") return [];
    return [
      [
        span(`${marks.declined} `, "yellow"),
        span(oneLine(block.what)),
        span(`: ${oneLine(block.reason)}`, "dim"),
      ],
    ];
  });
  return [{ head: [first, ...more.map((line) => indented(line, 2))], indent: 4 }];
}

function titleLine({ title, meta }: Row, mark: string, style: Style, look?: RenderOptions): LineBlock {
  const text = drawText(title);
  const between = look === undefined ? " " : marksFor(look.unicode).between;
  const more = meta.map((each) => span(`${between}${oneLine(each.text)}`, "dim"));
  return { head: [[span(mark, style), span(` ${oneLine(text)}`), ...more]], indent: 2 };
}
