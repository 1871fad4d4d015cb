import {
  type ApprovalPrompt,
  type Block,
  duration,
  escapeControls,
  escapeExact,
  type ImageBlock,
  type Row,
  type RowFamily,
  type RowStatus,
  size,
  valueWords,
} from "@flint/view";
import {
  changeSpans,
  commandLines,
  diffLines,
  drawSpan,
  drawText,
  outputLines,
  planLines,
  textLines,
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
import { type Look, type Marks, marksFor } from "./look.ts";
import { type FoldedText, lastLines } from "./streamed.ts";

const OUTPUT_LINES = 10;
const COMMAND_LINES = 6;
const THOUGHT_LINES = 3;
const DIFF_LINES = 60;
const ARGUMENT_LENGTH = 200;

/** What is known about an item besides its row. */
export interface RowContext {
  readonly look: Look;
  /** How long the item was in progress, for rows without a duration. */
  readonly elapsedMs: number;
  /** The end of its streamed output, if it was streamed. */
  readonly output?: FoldedText | undefined;
  /** Paths in this folder are shown relative to it. */
  readonly cwd: string;
  /** Whether the user has already seen its diff or arguments in an approval. */
  readonly seen: boolean;
}

/** The lines of a completed row. Messages are streamed and prompts are not repeated, so they have none. */
export function drawRow(row: Row, context: RowContext): LineBlock[] {
  return FAMILIES[row.family](row, context);
}

type Draw = (row: Row, context: RowContext) => LineBlock[];

const FAMILIES: Readonly<Record<RowFamily, Draw>> = {
  user: () => [],
  message: () => [],
  thought: drawThought,
  command: drawCommand,
  change: drawChange,
  tool: drawTool,
  search: (row, { look }) => [titleLine(row, marksFor(look.unicode).search, "cyan")],
  plan: drawPlan,
  review: drawReview,
  notice: (row, { look }) => [titleLine(row, marksFor(look.unicode).again, "dim")],
  handoff: (row, { look }) => [titleLine(row, marksFor(look.unicode).arrow, "cyan")],
  turn: () => [],
  unknown: (row, { look }) => [titleLine(row, marksFor(look.unicode).running, "dim")],
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

/** A tool call on one line: its name and the start of its arguments. */
export function callLine({ title, body }: Pick<Row, "title" | "body">, mark: Span): Line {
  return [mark, span(" "), ...title.map(drawSpan), span(argumentText(body), "dim")];
}

/** What an agent wants to do, in full: nothing of it is cut or folded. */
export function drawApproval(prompt: ApprovalPrompt, look: Look, cwd: string): LineBlock {
  const head = [span(marksFor(look.unicode).current, "yellow"), span(` ${prompt.title}`, "bold")];
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

function wholeBlock(block: Block, look: Look, cwd: string): Line[] {
  switch (block.kind) {
    case "diff":
      return [changeSpans(block, "inProgress", look, cwd), ...diffLines(block)];
    case "json":
      return escapeExact(JSON.stringify(block.value, null, 2))
        .split("\n")
        .map((line) => lineOf(line));
    case "plan":
      return planLines(block.entries, look);
    case "image":
      return [imageLine(block)];
    case "declined":
      return textLines(`${block.what}: ${block.reason}`);
    case "markdown":
    case "text":
    case "error":
    case "output":
      return textLines(block.text);
  }
}

/** The name and the size of an image. */
function imageLine({ name, bytes }: ImageBlock): Line {
  const end = bytes === undefined ? "" : ` (${size(bytes)})`;
  return [span("[image] ", "dim"), span(oneLine(name)), span(end, "dim")];
}

function drawCommand(row: Row, context: RowContext): LineBlock[] {
  const { look } = context;
  const end = span(`  ${endOf(row, context)}`, "dim");
  const lines = commandLines(row.title, statusMark(row.status, marksFor(look.unicode)), end);
  const output = outputLines(outputOf(row, context), look);
  return [{ head: foldAfter(lines, COMMAND_LINES, look), body: output, indent: 4 }];
}

/** The item has all of the output; what was streamed may be its beginning. */
function outputOf({ body }: Row, { output }: RowContext): FoldedText {
  const block = body.find(({ kind }) => kind === "output");
  const { text = "", omittedBytes = 0 } = block?.kind === "output" ? block : {};
  if (output !== undefined && text === "" && omittedBytes === 0) return output;
  const folded = lastLines(text, OUTPUT_LINES);
  return omittedBytes === 0 ? folded : { ...folded, omittedBytes };
}

/** How a row ended and how long it took; a success needs no word. */
function endOf({ status, outcome, durationMs }: Row, { elapsedMs }: RowContext): string {
  if (status === "declined") return "declined";
  const took = duration(durationMs ?? elapsedMs);
  return status === "completed" || outcome === undefined ? took : `${outcome}, ${took}`;
}

function drawChange({ body, status, outcome }: Row, { look, cwd, seen }: RowContext): LineBlock[] {
  const mark = statusMark(status, marksFor(look.unicode));
  return body.flatMap((block) => {
    if (block.kind !== "diff") return [];
    const end = outcome === undefined ? [] : [span(`  ${outcome}`, "dim")];
    const head = [mark, span(" "), ...changeSpans(block, status, look, cwd), ...end];
    const lines = seen ? [] : foldAfter(diffLines(block), DIFF_LINES, look);
    return [{ head: [head], body: lines.map((line) => indented(line, 2)), indent: 2 }];
  });
}

function drawTool(row: Row, context: RowContext): LineBlock[] {
  const { look, seen } = context;
  const mark = statusMark(row.status, marksFor(look.unicode));
  const problem = row.body.flatMap((block) => (block.kind === "error" ? textLines(block.text, "red") : []));
  const body = foldAfter(problem, OUTPUT_LINES, look).map((line) => indented(line, 2));
  const head = callLine(seen ? { ...row, body: [] } : row, mark);
  const end = row.status === "failed" ? duration(row.durationMs ?? context.elapsedMs) : endOf(row, context);
  return [{ head: [[...head, span(`  ${end}`, "dim")]], body, indent: 2 }];
}

function argumentText(body: readonly Block[]): string {
  const given = body.find(({ kind }) => kind === "json");
  if (given?.kind !== "json") return "";
  return ` ${oneLine(valueWords(given.value).slice(0, ARGUMENT_LENGTH))}`;
}

function drawThought({ body: [block] }: Row, { look, elapsedMs }: RowContext): LineBlock[] {
  if (block?.kind !== "markdown") return [];
  const [first = "", ...rest] = escapeControls(block.text)
    .split("\n")
    .filter((line) => line.trim() !== "");
  const mark = marksFor(look.unicode).thought;
  const head = lineOf(`${mark} Thought for ${duration(elapsedMs)}: ${first}`, "dim");
  const more = foldAfter(
    rest.map((line) => lineOf(line, "dim")),
    THOUGHT_LINES - 1,
    look,
  );
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

function titleLine({ title }: Row, mark: string, style: Style): LineBlock {
  const text = drawText(title);
  return { head: [[span(mark, style), span(` ${oneLine(text)}`)]], indent: 2 };
}

function oneLine(text: string): string {
  return escapeControls(text).replaceAll("\n", " ");
}
