import type { ToolResult } from "@flint/agent/model";

/** Removes a pair of quotes around a string, if there is one. */
export function unquote(text: string): string {
  const trimmed = text.trim();
  return /^(`|"|')([\s\S]*)\1$/.exec(trimmed)?.[2] ?? trimmed;
}

/** Removes quotes and the punctuation of the surrounding sentence from a path. */
export function pathFrom(text = ""): string {
  return unquote(text.trim().replace(/[,;:?!]+$/, "")).replace(/(?<=[^./])[.?!,;]+$/, "");
}

const NUMBERED = /^\s*\d+(?:\t|→|: |\| )/;

/** The text of a file as a tool read it, without the line numbers and the closing note that some tools add. */
export function fileText({ text }: ToolResult): string {
  const lines = text.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
  const note = /^\((.+)\)$/.exec(lines.at(-1) ?? "")?.[1];
  const numbered = note === undefined ? lines : lines.slice(0, -1);
  if (numbered.length === 0) return /\bempty\b/.test(note ?? "") ? "" : text;
  if (!numbered.every((line) => NUMBERED.test(line))) return text;
  const plain = numbered.map((line) => line.replace(NUMBERED, ""));
  // An empty last line stands for the newline of the one before it.
  const endsHere = (plain.at(-1) === "" && plain.length > 1) || /no newline at the end/.test(note ?? "");
  return endsHere ? plain.join("\n") : `${plain.join("\n")}\n`;
}

/** An edit of whole lines that occur only once in the file. */
export interface TextEdit {
  readonly oldText: string;
  readonly newText: string;
  /** The file after the edit, for tools that only write whole files. */
  readonly whole: string;
  readonly occurrences: number;
}

/** Replaces every occurrence of a text; undefined if the file does not contain it. */
export function replaceIn(text: string, from: string, to: string): TextEdit | undefined {
  const occurrences = text.split(from).length - 1;
  if (from === "" || occurrences === 0) return undefined;
  const start = text.lastIndexOf("\n", text.indexOf(from)) + 1;
  const last = text.lastIndexOf(from) + from.length;
  const newline = text.indexOf("\n", from.endsWith("\n") ? last - 1 : last);
  const end = newline === -1 ? text.length : newline;
  const oldText = text.slice(start, end);
  const newText = oldText.split(from).join(to);
  return { oldText, newText, whole: text.slice(0, start) + newText + text.slice(end), occurrences };
}

/** The content of a new file: a program or the text that is asked for, or nothing. */
export function newFileContent(path: string, description: string): string {
  const text = /\b(?:prints|says|with|containing|contains):? ([\s\S]+)$/i.exec(description)?.[1];
  if (text === undefined) return "";
  const content = unquote(text).replace(/\n$/, "");
  return path.endsWith(".py") ? `print(${JSON.stringify(content)})\n` : `${content}\n`;
}
