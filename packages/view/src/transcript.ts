import { shortened, type Thread, type Turn } from "@flint/protocol";
import { rowOf } from "./items.ts";
import { type Block, type Row, type RowFamily, spanText } from "./row.ts";

/** A thread as Markdown: every prompt, message, command and change, in order. */
export function transcript(thread: Thread, turns: readonly Turn[]): string {
  const head = [
    `# ${thread.name ?? (firstLine(thread.preview) || thread.id)}`,
    `- Thread: ${thread.id}\n- Folder: ${thread.cwd}\n- Model: ${thread.model}\n- Started: ${time(thread.createdAt)}`,
  ];
  return `${[...head, ...turns.map(turnMarkdown)].join("\n\n")}\n`;
}

/** One turn under its number, which commands take for it. */
function turnMarkdown(turn: Turn, index: number): string {
  const rows = turn.items.map((item) => rowMarkdown(rowOf(item))).filter((text) => text !== "");
  const problem = turn.error === undefined ? "" : `: ${turn.error.message}`;
  const ending = turn.status === "completed" ? [] : [`*(${turn.status}${problem})*`];
  return [`*Turn #${index + 1}*`, ...rows, ...ending].join("\n\n");
}

function rowMarkdown(row: Row): string {
  return FAMILIES[row.family](row);
}

/** The Markdown of each kind of row. */
const FAMILIES: Readonly<Record<RowFamily, (row: Row) => string>> = {
  user: promptMarkdown,
  message: bodyText,
  thought: (row) => quoted(bodyText(row)),
  command: (row) => {
    const shell = fenced("sh", `$ ${spanText(row.title)}\n${bodyText(row)}`.trimEnd());
    return `${shell}\n\n(${row.outcome ?? row.status})`;
  },
  change: ({ body, status }) => body.map((block) => changeMarkdown(block, status)).join("\n\n"),
  tool: toolMarkdown,
  search: titleMarkdown,
  plan: (row) => row.body.map(blockMarkdown).join("\n\n"),
  review: (row) => [titleMarkdown(row), ...row.body.map(blockMarkdown)].join("\n\n"),
  notice: titleMarkdown,
  handoff: titleMarkdown,
  turn: titleMarkdown,
  unknown: titleMarkdown,
};

/** The first line as a heading, and the whole prompt below it if there is more. */
function promptMarkdown(row: Row): string {
  const text = bodyText(row);
  const heading = firstLine(text);
  return heading === text ? `## ${text}` : `## ${heading}\n\n${text}`.trimEnd();
}

function titleMarkdown({ title }: Row): string {
  return `*${spanText(title)}*`;
}

function toolMarkdown({ title, outcome, status, body }: Row): string {
  const problem = body.find(({ kind }) => kind === "error");
  const end = `${outcome ?? status}${problem === undefined ? "" : `: ${blockMarkdown(problem)}`}`;
  return `*${spanText(title)} (${end})*`;
}

function changeMarkdown(block: Block, status: string): string {
  if (block.kind !== "diff") return blockMarkdown(block);
  return `${fenced("diff", blockMarkdown(block))}\n\n(${block.change} ${block.path}: ${status})`;
}

function bodyText({ body }: Row): string {
  return body.map(blockMarkdown).join("\n\n");
}

/** A block as Markdown; `rowText` has its plain text. */
function blockMarkdown(block: Block): string {
  switch (block.kind) {
    case "markdown":
    case "text":
    case "error":
    case "output":
      return block.text;
    case "diff":
      return block.lines.map(({ text }) => text).join("\n");
    case "plan":
      return block.entries
        .map(({ step, status }) => `- [${status === "completed" ? "x" : " "}] ${step}`)
        .join("\n");
    case "json":
      return fenced("json", JSON.stringify(block.value, undefined, 2));
    case "image":
      return block.source.startsWith("data:") ? "[image]" : `[image ${block.source}]`;
    case "declined":
      return `${block.what}: ${block.reason}`;
  }
}

/** A code block whose fence is longer than any inside it. */
function fenced(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}

function quoted(text: string): string {
  if (text === "") return "";
  const lines = text.trim().split("\n");
  return lines.map((line) => `> ${line}`).join("\n");
}

function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return shortened(line, 80);
}

function time(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().slice(0, 16).replace("T", " ");
}
