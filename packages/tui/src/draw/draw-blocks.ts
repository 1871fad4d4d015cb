import { relative, resolve } from "node:path";
import type { PlanEntry } from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";
import {
  type Block,
  changeVerb,
  type DiffBlock,
  describeError,
  describeReroute,
  escapeControls,
  escapeExact,
  type ImageBlock,
  oneLine,
  type Row,
  type RowStatus,
  type Span,
  size,
} from "@flint/view";
import { markdownOf } from "@flint/view/markdown";
import {
  indented,
  type Line,
  type LineBlock,
  lineOf,
  linesOf,
  moreLines,
  type Style,
  type Span as StyledSpan,
  span,
} from "./line.ts";
import { markdownRows } from "./markdown.ts";
import { type Marks, marksFor, type RenderOptions } from "./render-options.ts";
import type { FoldedText } from "./streamed.ts";
import { linkTarget } from "./styled.ts";

/** A span of a row as the terminal shows it: escaped, and in the style of its emphasis. */
export function drawSpan({ text, emphasis, exact: isExact }: Span): StyledSpan {
  const escaped = isExact === true ? escapeExact(text) : escapeControls(text).replaceAll("\n", " ");
  return span(escaped, emphasis === undefined ? undefined : EMPHASIS[emphasis]);
}

const EMPHASIS = { strong: "bold", muted: "dim" } as const;

/** The escaped text of spans. */
export function drawText(spans: readonly Span[]): string {
  return spans.map((each) => drawSpan(each).text).join("");
}

/** Returns the less important part of a title. */
export function metaSpans(meta: readonly Span[]): StyledSpan[] {
  return meta.map((each) => span(` ${oneLine(each.text)}`, "dim"));
}

/** Text that a user must judge by its exact characters, on one line: a line break in a name is not the end of it. */
export function exactLine(text: string): string {
  return escapeExact(text).replaceAll("\n", "\\u{a}");
}

/** A command as it would be typed; `end` follows its first line. */
export function commandLines(title: readonly Span[], mark: StyledSpan, end?: StyledSpan): Line[] {
  const [first = "", ...rest] = drawText(title).split("\n");
  const head = [mark, span(" $ ", "dim"), span(first, "bold"), ...(end === undefined ? [] : [end])];
  return [head, ...rest.map((line) => indented(lineOf(line, "bold"), 4))];
}

/** Output, dimmed and indented, with a note where lines are not shown: how many, and how to see them. */
export function outputLines(
  { head = [], lines, hidden, omittedBytes = 0 }: FoldedText,
  look: RenderOptions,
  how?: string,
): Line[] {
  const shown = (line: string) => indented(lineOf(escapeControls(withoutColours(line)), "dim"), 2);
  const note = `${marksFor(look.unicode).more} ${size(omittedBytes)} omitted`;
  const gap = omittedBytes > 0 ? [lineOf(note, "dim")] : hidden === 0 ? [] : [moreLines(hidden, look, how)];
  return [...head.map(shown), ...gap.map((line) => indented(line, 2)), ...lines.map(shown)];
}

/** Drops the colours of a command's output. All other escape sequences are shown. */
function withoutColours(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what a colour is
  return text.replace(/\u001b\[[\d;:]*m/g, "");
}

/** Describes the change of a file with the lines it adds and removes: `Changed a.ts +1 −1`. */
export function changeSpans(
  block: DiffBlock,
  status: RowStatus,
  look: RenderOptions,
  cwd: string,
): StyledSpan[] {
  const marks = marksFor(look.unicode);
  const { change, path, movePath, added, removed } = block;
  const moved = movePath === undefined ? "" : ` ${marks.arrow} ${shortPath(movePath, cwd)}`;
  return [
    span(`${changeVerb(change, status)} `),
    { ...span(`${shortPath(path, cwd)}${moved}`, "bold"), ...fileLink(movePath ?? path, look, cwd) },
    ...(added === 0 ? [] : [span(` +${added}`, "green")]),
    ...(removed === 0 ? [] : [span(` ${marks.minus}${removed}`, "red")]),
  ];
}

function fileLink(path: string, { links }: RenderOptions, cwd: string): { readonly link?: string } {
  const link = links === undefined ? undefined : linkTarget(resolve(cwd, path), links);
  return link === undefined ? {} : { link };
}

/** A path relative to the working folder, if it is inside. */
function shortPath(path: string, cwd: string): string {
  const inside = relative(cwd, path);
  const shown = inside === "" || inside.startsWith("..") ? path : inside;
  return exactLine(shown);
}

/** The steps of a plan with their marks. */
export function planLines(entries: readonly PlanEntry[], look: RenderOptions): Line[] {
  const marks = marksFor(look.unicode);
  if (look.isPlain === true)
    return entries.map(({ step, status }) => [span(`  ${STEP_WORDS[status]}: ${oneLine(step)}`)]);
  return entries.map((entry) => [span("  "), ...stepSpans(entry, marks)]);
}

const STEP_WORDS = { completed: "Done", inProgress: "Now", failed: "Failed", pending: "To do" } as const;

/** The steps whose status has changed; all of them if the plan is a different one. */
export function changedSteps(before: readonly PlanEntry[], now: readonly PlanEntry[]): readonly PlanEntry[] {
  const isSame = before.length === now.length && before.every(({ step }, index) => step === now[index]?.step);
  return isSame ? now.filter(({ status }, index) => status !== before[index]?.status) : now;
}

function stepSpans({ step, status }: PlanEntry, marks: Marks): StyledSpan[] {
  const text = ` ${escapeControls(step).replaceAll("\n", " ")}`;
  switch (status) {
    case "completed":
      return [span(marks.done, "green"), span(text, "dim")];
    case "inProgress":
      return [span(marks.current, "cyan"), span(text, "bold")];
    case "failed":
      return [span(marks.failed, "red"), span(text)];
    case "pending":
      return [span(marks.pending, "dim"), span(text)];
  }
}

/** Escaped lines of text. */
export function textLines(text: string, style?: Style): Line[] {
  return linesOf(escapeControls(text), style);
}

/** The notice for an event about the turn itself; undefined for events about its items. */
export function noticeOf(event: AgentEvent, look: RenderOptions): LineBlock | undefined {
  const marks = marksFor(look.unicode);
  switch (event.type) {
    case "error": {
      const { error, willRetry } = event.data;
      const [mark, style] = willRetry ? ([marks.again, "yellow"] as const) : ([marks.failed, "red"] as const);
      return notice(mark, style, describeError(error, willRetry));
    }
    case "warning":
      return notice(marks.warning, "yellow", event.data.message);
    case "model/rerouted":
      return notice(marks.arrow, "yellow", describeReroute(event.data));
    default:
      return undefined;
  }
}

/** One line with a mark in front. */
export function notice(mark: string, style: Style, text: string): LineBlock {
  return { head: [[span(mark, style), span(` ${escapeControls(text).replaceAll("\n", " ")}`)]], indent: 2 };
}

/** A message of the user, with who sent it and its images. */
export function userBlock({ body, meta }: Row, look: RenderOptions): LineBlock {
  const mark = `${marksFor(look.unicode).user} `;
  const [first = [], ...rest] = body.flatMap(userLines);
  const sender = meta.length === 0 ? [] : [span(" "), ...metaSpans(meta)];
  const head: Line = [span(mark, "cyan"), ...first, ...sender];
  return { head: [head, ...rest.map((line) => indented(line, mark.length))], indent: mark.length };
}

function userLines(block: Block): Line[] {
  if (block.kind === "image") return [imageLine(block)];
  const text = block.kind === "text" ? escapeControls(block.text) : "";
  return text.split("\n").map((line) => [span(line, "bold")]);
}

/** The name and the size of an image. */
export function imageLine({ name, bytes }: ImageBlock): Line {
  const end = bytes === undefined ? "" : ` (${size(bytes)})`;
  return [span("[image] ", "dim"), span(oneLine(name)), span(end, "dim")];
}

/** A message of an agent as Markdown. */
export function messageBlocks({ body }: Row, look: RenderOptions): LineBlock[] {
  return body.flatMap((block) => {
    if (block.kind !== "markdown" || block.text.trim() === "") return [];
    return [{ head: markdownRows(markdownOf(block), look, look.columns) }];
  });
}
