import { type Item, isRecord } from "@flint/protocol";
import type { Block, ImageBlock, Span } from "../row.ts";
import { imageBlock } from "./images.ts";

/** The argument that says what a call is about, by the names that tools give it, best first. */
const SUBJECTS = [
  ...["file_path", "path", "notebook_path", "filename", "file", "uri", "url"],
  ...["pattern", "query", "command", "cmd", "code", "expression"],
  ...["title", "subject", "name", "description", "prompt", "text", "message"],
];

const LONGEST = 200;
const LONGEST_VALUE = 60;

/** The arguments of a call as words: what it is about, then the short ones by name. Never JSON. */
export function argumentWords(given: unknown, title: string): readonly Span[] {
  if (given === undefined || given === null) return [];
  if (!isRecord(given)) return spanOf(valueWords(given));
  const questions = questionsOf(given);
  if (questions.length > 0) return spanOf(questions.map(({ question }) => question).join(" "));
  const subject = SUBJECTS.find((name) => typeof given[name] === "string" && given[name] !== "");
  const main = subject === undefined ? "" : String(given[subject]);
  const rest = Object.entries(given)
    .filter(([name, value]) => name !== subject && isShort(value))
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${valueWords(value)}`);
  // A title that names the subject does not need it again.
  const words = [...(main === "" || title.includes(main) ? [] : [main]), ...rest];
  return spanOf(words.join(", "));
}

function spanOf(text: string): readonly Span[] {
  const line = text.replace(/\s+/gu, " ").trim();
  if (line === "") return [];
  const cut = line.length > LONGEST ? `${line.slice(0, LONGEST).replace(/[\uD800-\uDBFF]$/, "")}…` : line;
  return [{ text: cut, emphasis: "muted" }];
}

function isShort(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return false;
  return valueWords(value).length <= LONGEST_VALUE;
}

/** A value as words rather than JSON: `path: notes.txt, lines: 3`. Inner objects are in parentheses. */
export function valueWords(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(innerWords).join(", ");
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([name, inner]) => `${name}: ${innerWords(inner)}`)
    .join(", ");
}

function innerWords(value: unknown): string {
  const isList = typeof value === "object" && value !== null;
  return isList ? `(${valueWords(value)})` : valueWords(value);
}

/** The details of a call: its arguments, what it returned, and why it failed. */
export function callBlocks(item: Item<"mcpToolCall"> | Item<"toolCall">): Block[] {
  const { arguments: given, result, error } = item;
  const isEmpty = given === undefined || given === null || JSON.stringify(given) === "{}";
  const questions = questionsOf(given);
  const asked = questions.map(({ question, labels }) => [question, labels.join(" / ")].join("  ").trim());
  const about =
    asked.length > 0
      ? output(asked.join("\n"))
      : ({ kind: "json", label: "arguments", value: given } as const);
  const answers = questions.length === 0 ? undefined : answersIn(result);
  return [
    ...(isEmpty ? [] : [about]),
    ...(answers === undefined ? resultBlocks(result) : [output(answers)]),
    ...(error === undefined ? [] : [{ kind: "error", text: error } as const]),
  ];
}

/** The questions in the arguments of a tool that asks the user, with the labels of their options. */
function questionsOf(
  given: unknown,
): readonly { readonly question: string; readonly labels: readonly string[] }[] {
  if (!isRecord(given) || !Array.isArray(given.questions)) return [];
  const found = given.questions.flatMap((each: unknown) => {
    if (!isRecord(each) || typeof each.question !== "string") return [];
    const options: readonly unknown[] = Array.isArray(each.options) ? each.options : [];
    const labels = options.flatMap((option) =>
      isRecord(option) && typeof option.label === "string" ? [option.label] : [],
    );
    return [{ question: each.question, labels }];
  });
  return found.length === given.questions.length ? found : [];
}

/** The answers to questions, by their ids, as lines; undefined if the result is anything else. */
function answersIn(result: unknown): string | undefined {
  const given = isRecord(result) ? Object.values(result) : [];
  const lines = given.flatMap((each) => {
    const answers: unknown = isRecord(each) ? each.answers : undefined;
    const isText = Array.isArray(answers) && answers.every((answer) => typeof answer === "string");
    return isText ? [answers.join(", ")] : [];
  });
  return lines.length === 0 || lines.length !== given.length ? undefined : lines.join("\n");
}

/** The blocks of a tool's result, which is MCP content, text, or any value. */
function resultBlocks(result: unknown): Block[] {
  if (result === undefined || result === null || result === "") return [];
  if (typeof result === "string") return [output(result)];
  if (!isRecord(result) && !Array.isArray(result)) return [output(String(result))];
  const content = isRecord(result) ? result.content : result;
  if (typeof content === "string") return content === "" ? [] : [output(content)];
  if (Array.isArray(content) && content.every(isRecord)) return joined(content.map(contentBlock));
  return [{ kind: "json", label: "result", value: result }];
}

/** One part of MCP content. Parts of unknown kinds are shown as values. */
function contentBlock(part: Readonly<Record<string, unknown>>): Block {
  const { text, data, mimeType, resource } = part;
  if (typeof text === "string") return output(text);
  if (part.type === "image" && typeof data === "string") return inlineImage(data, mimeType);
  if (isRecord(resource) && typeof resource.text === "string") return output(resource.text);
  return { kind: "json", label: "result", value: part };
}

function inlineImage(data: string, mimeType: unknown): ImageBlock {
  return imageBlock(`data:${typeof mimeType === "string" ? mimeType : "image/png"};base64,${data}`);
}

function output(text: string): Extract<Block, { kind: "output" }> {
  return { kind: "output", text, omittedBytes: 0 };
}

/** Texts that follow each other are one output. */
function joined(blocks: readonly Block[]): Block[] {
  const result: Block[] = [];
  for (const block of blocks) {
    const last = result.at(-1);
    if (block.kind === "output" && last?.kind === "output")
      result.splice(-1, 1, output(`${last.text}\n${block.text}`));
    else result.push(block);
  }
  return result;
}
