import type { ToolResult } from "@flint/agent/model";

const NUMBERED = /^\s*\d+(?:\t|→|: |\| )/;

/** What a tool returned of a file. */
export interface FileView {
  readonly text: string;
  /** False if the tool left out the rest. */
  readonly isWhole: boolean;
}

/** The text of a file, without the line numbers and the closing note that some tools add. */
export function fileText(result: ToolResult): string {
  return fileView(result).text;
}

/** The same, and whether it is the whole file. */
export function fileView({ text }: ToolResult): FileView {
  const lines = text.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
  const note = /^\((.+)\)$/.exec(lines.at(-1) ?? "")?.[1];
  const numbered = note === undefined ? lines : lines.slice(0, -1);
  if (numbered.length === 0) return { text: /\bempty\b/.test(note ?? "") ? "" : text, isWhole: true };
  if (!numbered.every((line) => NUMBERED.test(line))) return { text, isWhole: true };
  const plain = numbered.map((line) => line.replace(NUMBERED, ""));
  // An empty last line stands for the newline of the one before it.
  const endsHere = (plain.at(-1) === "" && plain.length > 1) || /no newline at the end/.test(note ?? "");
  return {
    text: endsHere ? plain.join("\n") : `${plain.join("\n")}\n`,
    isWhole: !/\boffset\b/.test(note ?? ""),
  };
}

/** An edit of whole lines that occur only once in the file. */
export interface TextEdit {
  readonly oldText: string;
  readonly newText: string;
  /** The file after the edit, for tools that only write whole files. */
  readonly whole: string;
  /** How many places it changes. */
  readonly places: number;
}

/** Replaces a text everywhere; undefined if the file does not contain it. */
export function replaceIn(text: string, from: string, to: string): TextEdit | undefined {
  const places = text.split(from).length - 1;
  if (from === "" || places === 0) return undefined;
  const start = text.lastIndexOf("\n", text.indexOf(from)) + 1;
  const last = text.lastIndexOf(from) + from.length;
  const newline = text.indexOf("\n", from.endsWith("\n") ? last - 1 : last);
  const end = newline === -1 ? text.length : newline;
  const oldText = text.slice(start, end);
  const newText = oldText.split(from).join(to);
  return { oldText, newText, whole: text.slice(0, start) + newText + text.slice(end), places };
}

/** Adds a line at the end, by replacing as many of the last lines as make them unique. */
export function appendTo(text: string, line: string): TextEdit {
  const body = text.replace(/\n$/, "");
  const lines = body.split("\n");
  let oldText = lines.at(-1) ?? "";
  for (let taken = 2; taken <= lines.length && body.split(oldText).length > 2; taken += 1) {
    oldText = lines.slice(-taken).join("\n");
  }
  return { oldText, newText: `${oldText}\n${line}`, whole: `${body}\n${line}\n`, places: 1 };
}
