import { describeDiff, parseDiff } from "./changes.ts";
import { definitions, jsonNames, REMARK } from "./describe-file.ts";
import { count, fenced } from "./reports.ts";

const SHOWN_LINES = 5;
const SHOWN_ERRORS = 10;
const LINE_CHARACTERS = 200;

const PROBLEM =
  /\b(?:error|fatal|exception|panic(?:ked)?|traceback|fail(?:ed|ure)?|critical)\b|^\s*(?:✗|✖|×)/i;
const LOG_LINE =
  /^\s*(?:\[?\d{4}-\d\d-\d\d[T ]|\[?\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d+ \d\d:\d\d|\[?(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b)/;
const CODE_LINE =
  /[;{}]\s*$|^\s*(?:\/\/|\/\*|\*|#include\b|import\b|def\b|return\b|if \(|for \(|@\w)|[:,)]\s*$/;
/** The share of lines that makes a text a log, or source. */
const SHARE = 0.3;

/** Whether a text is a diff. */
export function isDiff(text: string): boolean {
  return parseDiff(text).length > 0;
}

/** What was piped in, in a few sentences, from what can be seen without understanding it. */
export function describeInput(text: string): string {
  if (text.trim() === "") return "What you gave me is empty.";
  if (isDiff(text)) return describeDiff(text);
  const lines = text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => line.slice(0, LINE_CHARACTERS));
  return [...described(text, lines), REMARK].join("\n\n");
}

function described(text: string, lines: readonly string[]): readonly string[] {
  const size = count(lines.length, "line");
  if (isJson(text)) return [`What you gave me is JSON (${size}).`, ...jsonNames(text)];
  const problems = lines.filter((line) => PROBLEM.test(line));
  const isLog = share(lines, LOG_LINE) >= SHARE;
  const defined = definitions(lines);
  if (!isLog && defined.length > 0 && share(lines, CODE_LINE) >= SHARE)
    return [`What you gave me is source code (${size}).`, ...defined, beginning(lines)];
  if (isLog || problems.length > 0) {
    const told = `What you gave me is a log (${size}), with ${count(problems.length, "line")} about errors.`;
    return [told, problems.length === 0 ? beginning(lines) : theErrors(problems)];
  }
  return [`What you gave me is plain text (${size}).`, beginning(lines)];
}

function theErrors(problems: readonly string[]): string {
  const first = problems.length > SHOWN_ERRORS ? `The first ${SHOWN_ERRORS} of them:` : "They say:";
  return `${first}\n\n${fenced(problems.slice(0, SHOWN_ERRORS).join("\n"))}`;
}

function beginning(lines: readonly string[]): string {
  const shown = lines.slice(0, SHOWN_LINES);
  return `It begins:\n\n${fenced([...shown, ...(lines.length > shown.length ? ["…"] : [])].join("\n"))}`;
}

function share(lines: readonly string[], kind: RegExp): number {
  const full = lines.filter((line) => line.trim() !== "");
  return full.filter((line) => kind.test(line)).length / Math.max(1, full.length);
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  // Expected: what only begins like JSON.
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
