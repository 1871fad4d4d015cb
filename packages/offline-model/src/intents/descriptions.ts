import type { Message } from "@flint/agent/model";
import { isRecord } from "@flint/protocol";
import { describeDiff, isDiff } from "./diff.ts";
import { count, fenced } from "./replies.ts";

const REMARK = "I follow fixed rules: I can tell what is there, but not judge it.";
const FAILING = /\b(?:fail(?:ed|ure|s|ing)?|error|exception|assert\w*|panicked|not ok|traceback)\b|✗|✖|×/i;
const SHOWN_LINES = 10;

/** Describes piped input: its size and how it begins, or the files of a diff. */
export function describeInput(text: string): string {
  if (text.trim() === "") return "What you gave me is empty.";
  if (isDiff(text)) return describeDiff(text);
  return [`What you gave me has ${linesOf(text)}.`, beginning(text), REMARK].join("\n\n");
}

/** Describes a file: its size and how it begins. */
export function describeFile(path: string, text: string): string {
  if (text.trim() === "") return `${path} is empty.`;
  return [`${path} has ${linesOf(text)}.`, beginning(text), REMARK].join("\n\n");
}

function linesOf(text: string): string {
  return count(text.replace(/\n$/, "").split("\n").length, "line");
}

function beginning(text: string): string {
  const lines = text.trimEnd().split("\n");
  const shown = lines.slice(0, SHOWN_LINES).map((line) => line.slice(0, 200));
  return `It begins:\n\n${fenced([...shown, ...(lines.length > shown.length ? ["…"] : [])].join("\n"))}`;
}

/** Describes a project by what its README and package.json say. */
export function describeProject(readme: string | undefined, manifest: string | undefined): string {
  const title = /^#\s+(.+)$/m.exec(readme ?? "")?.[1]?.trim();
  const paragraph = readme
    ?.split(/\n\s*\n/)
    .map((part) => part.replaceAll(/\s+/g, " ").trim())
    .find((part) => /^[\w"'*_`(]/.test(part) && part.length > 20);
  const { name, description } = parseObject(manifest ?? "");
  const facts = [
    ...(title === undefined ? [] : [`The README calls it "${title}".`]),
    ...(paragraph === undefined ? [] : [`It says: ${paragraph.slice(0, 500)}`]),
    ...(typeof name === "string" ? [`The package is named ${name}.`] : []),
    ...(typeof description === "string" ? [`package.json describes it: ${description}`] : []),
  ];
  if (facts.length === 0)
    return "Nothing here says what the project is about: there is no README and no package.json.";
  return [...facts, REMARK].join("\n\n");
}

/** Shows the first failure in the last command of the thread that failed; undefined if none did. */
export function describeLastFailure(messages: readonly Message[]): string | undefined {
  const result = messages.findLast((message) => message.role === "tool" && (message.exitCode ?? 0) !== 0);
  if (result?.role !== "tool") return undefined;
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  const command = calls.findLast(({ callId }) => callId === result.callId)?.input.command ?? "a command";
  const lines = result.text.trimEnd().split("\n");
  const first = lines.findIndex((line) => FAILING.test(line));
  const shown = first === -1 ? lines.slice(-SHOWN_LINES) : lines.slice(first, first + SHOWN_LINES);
  const title = `The last command that failed is \`${command}\` (exit code ${result.exitCode}).`;
  return `${title} I would look at this first:\n\n${fenced(shown.join("\n"))}`;
}

/** Parses a JSON object; an empty one if the text is anything else. */
export function parseObject(text: string): Readonly<Record<string, unknown>> {
  // Expected: a file that is cut off or not JSON.
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? { ...value } : {};
  } catch {
    return {};
  }
}
