import { type Item, isKnownItem, type ThreadItem } from "@flint/protocol";
import { exact, visible } from "@flint/view";
import { duration, size } from "./amounts.ts";
import { changeBlocks } from "./change-blocks.ts";
import { indented, type Line, lineOf, linesOf, type Span, type Style, span } from "./line.ts";
import { type Look, type Marks, marksFor } from "./look.ts";
import { planLines } from "./plan-lines.ts";
import { type FoldedText, lastLines } from "./streamed.ts";
import { type Block, foldAfter, moreLines } from "./wrap.ts";

/** How many lines of output stay on the screen. */
export const OUTPUT_LINES = 10;
const COMMAND_LINES = 6;
const THOUGHT_LINES = 3;
const ARGUMENT_LENGTH = 200;

/** What is known of an item beside itself. */
export interface ItemContext {
  readonly look: Look;
  /** From its start to its end, where the item does not say. */
  readonly tookMs: number;
  /** The end of its output, where that was streamed. */
  readonly output?: FoldedText | undefined;
  /** Paths in this folder are shown without it. */
  readonly cwd: string;
  /** Whether the user was asked about it and has seen its diff or its arguments. */
  readonly seen: boolean;
}

type WorkStatus = Item<"toolCall">["status"];

/** An item that has ended, as it stays on the screen. What is shown in another way gives nothing. */
export function itemBlocks(item: ThreadItem, context: ItemContext): Block[] {
  if (!isKnownItem(item)) return [unknownBlock(item, context)];
  const marks = marksFor(context.look.unicode);
  switch (item.type) {
    case "commandExecution":
      return [commandBlock(item, context)];
    case "fileChange":
      return changeBlocks(item, context);
    case "mcpToolCall":
      return [toolBlock({ ...item, name: `${item.server}.${item.tool}` }, context)];
    case "toolCall":
      return [toolBlock({ ...item, name: item.title ?? item.tool }, context)];
    case "webSearch":
      return [oneLine(marks.search, "cyan", `Searched the web for "${visible(item.query)}"`)];
    case "reasoning":
      return thoughtBlocks(item, context);
    case "plan":
      return planBlocks(item, context);
    case "contextCompaction":
      return [oneLine(marks.again, "dim", "The conversation was summarised to make room")];
    case "agentHandoff": {
      const names = [item.toAgent, item.fromAgent].map(visible);
      return [oneLine(marks.again, "dim", `${names[0]} goes on in place of ${names[1]}`)];
    }
    case "enteredReviewMode":
      return [oneLine(marks.current, "cyan", `Review of ${visible(item.review)}`)];
    case "exitedReviewMode":
      return [{ head: linesOf(visible(item.review)) }];
    case "userMessage":
    case "agentMessage":
      return [];
  }
}

/** The mark in front of work, and its colour. */
export function statusMark(status: WorkStatus, marks: Marks): Span {
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

/** A command as it would be typed; how it went stands behind its first line. */
export function commandLines(command: string, mark: Span, end?: Span): Line[] {
  const [first = "", ...rest] = exact(command).split("\n");
  const head = [mark, span(" $ ", "dim"), span(first, "bold"), ...(end === undefined ? [] : [end])];
  return [head, ...rest.map((line) => indented(lineOf(line, "bold"), 4))];
}

/** Commands colour their output; without the colours it says the same. All other sequences stay to be seen. */
function withoutColours(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what a colour is
  return text.replace(/\u001b\[[\d;:]*m/g, "");
}

/** Output, dim and with a margin, and how much of it is not shown. */
export function outputLines({ lines, hidden, omittedBytes = 0 }: FoldedText, look: Look): Line[] {
  const shown = lines.map((line) => indented(lineOf(visible(withoutColours(line)), "dim"), 2));
  if (omittedBytes > 0) {
    const words = `${marksFor(look.unicode).more} ${size(omittedBytes)} left out`;
    return [indented(lineOf(words, "dim"), 2), ...shown];
  }
  return hidden === 0 ? shown : [indented(moreLines(hidden, look), 2), ...shown];
}

function commandBlock(item: Item<"commandExecution">, context: ItemContext): Block {
  const { look } = context;
  const marks = marksFor(look.unicode);
  const failed = item.status === "completed" && (item.exitCode ?? 0) !== 0;
  const mark = statusMark(failed ? "failed" : item.status, marks);
  const output = outputOf(item, context);
  const lines = commandLines(item.command, mark, span(`  ${commandEnd(item, context)}`, "dim"));
  return { head: foldAfter(lines, COMMAND_LINES, look), body: outputLines(output, look), indent: 4 };
}

/** Of output that was cut, its end is only in the item: what streamed is the beginning. */
function outputOf(item: Item<"commandExecution">, { output }: ItemContext): FoldedText {
  const omitted = item.omittedOutputBytes ?? 0;
  if (output !== undefined && omitted === 0) return output;
  const folded = lastLines(item.aggregatedOutput ?? "", OUTPUT_LINES);
  return omitted === 0 ? folded : { ...folded, omittedBytes: omitted };
}

function commandEnd(item: Item<"commandExecution">, context: ItemContext): string {
  if (item.status === "declined") return "declined, not run";
  const took = duration(item.durationMs ?? context.tookMs);
  if (item.exitCode === undefined) return item.status === "failed" ? `failed after ${took}` : took;
  return item.exitCode === 0 ? took : `exit ${item.exitCode}, ${took}`;
}

/** A call of any tool. */
export interface Call {
  readonly name: string;
  readonly status: WorkStatus;
  readonly arguments?: unknown;
  readonly error?: string | undefined;
  readonly durationMs?: number | undefined;
}

function toolBlock(call: Call, context: ItemContext): Block {
  const mark = statusMark(call.status, marksFor(context.look.unicode));
  const took = duration(call.durationMs ?? context.tookMs);
  const end = call.status === "declined" ? "declined" : took;
  const problem = call.error === undefined ? [] : linesOf(visible(call.error), "red");
  const body = foldAfter(problem, OUTPUT_LINES, context.look).map((line) => indented(line, 2));
  const known = context.seen ? { name: call.name } : call;
  return { head: [[...callSpans(known, mark), span(`  ${end}`, "dim")]], body, indent: 2 };
}

/** A call on one line: its name and the beginning of its arguments. */
export function callSpans(call: Pick<Call, "name" | "arguments">, mark: Span): Line {
  const name = visible(call.name).replaceAll("\n", " ");
  return [mark, span(" "), span(name, "bold"), span(argumentText(call.arguments), "dim")];
}

function argumentText(given: unknown): string {
  if (given === undefined || given === null) return "";
  const text = JSON.stringify(given);
  if (text === undefined || text === "{}") return "";
  return ` ${visible(text.slice(0, ARGUMENT_LENGTH).replaceAll("\n", " "))}`;
}

function thoughtBlocks(item: Item<"reasoning">, { look, tookMs }: ItemContext): Block[] {
  const text = (item.summary || item.content || "").trim();
  if (text === "") return [];
  const [first = "", ...rest] = visible(text)
    .split("\n")
    .filter((line) => line.trim() !== "");
  const head: Line = [
    span(`${marksFor(look.unicode).thought} Thought for ${duration(tookMs)}: ${first}`, "dim"),
  ];
  const more = foldAfter(
    rest.map((line) => lineOf(line, "dim")),
    THOUGHT_LINES - 1,
    look,
  );
  return [{ head: [], body: [head, ...more.map((line) => indented(line, 2))] }];
}

function planBlocks(item: Item<"plan">, { look }: ItemContext): Block[] {
  const lines = item.entries === undefined ? linesOf(visible(item.text)) : planLines(item.entries, look);
  return lines.length === 0 ? [] : [{ head: [lineOf("Plan", "bold"), ...lines], indent: 4 }];
}

/** What nobody knows is shown as a call: its type, its id, and whatever text it has. */
function unknownBlock(item: ThreadItem, { look }: ItemContext): Block {
  const texts = Object.entries(item).filter(([name, value]) => {
    return name !== "type" && name !== "id" && typeof value === "string";
  });
  const text = texts.map(([, value]) => String(value)).join(" ");
  const words = visible(`${item.type} ${item.id} ${text}`).replaceAll("\n", " ");
  return oneLine(marksFor(look.unicode).running, "dim", words.trim());
}

function oneLine(mark: string, style: Style, text: string): Block {
  return { head: [[span(mark, style), span(` ${text.replaceAll("\n", " ")}`)]], indent: 2 };
}
