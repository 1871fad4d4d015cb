import type { ToolResult } from "@flint/agent/model";

const NUMBERED = /^\s*\d+(?:\t|→|: |\| )/;

const NOTE = /^\((.+)\)$/;

/** What a tool showed of a file. */
export interface FileView {
  readonly text: string;
  /** False if the tool left out the rest. */
  readonly isWhole: boolean;
}

/** The text of a file, without the line numbers and the closing note that some tools add. */
export function fileText(result: ToolResult): string {
  return fileView(result).text;
}

/** The same, and whether it is all of the file. */
export function fileView({ text }: ToolResult): FileView {
  const lines = text.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
  const note = NOTE.exec(lines.at(-1) ?? "")?.[1];
  const shown = note === undefined ? lines : lines.slice(0, -1);
  if (shown.length === 0) return { text: /\bempty\b/.test(note ?? "") ? "" : text, isWhole: true };
  if (!shown.every((line) => NUMBERED.test(line))) return { text, isWhole: true };
  const plain = shown.map((line) => line.replace(NUMBERED, ""));
  // A last line that is empty stands for the line end of the one before it.
  const isEnded = (plain.at(-1) === "" && plain.length > 1) || /no newline at the end/.test(note ?? "");
  return {
    text: isEnded ? plain.join("\n") : `${plain.join("\n")}\n`,
    isWhole: !/\boffset\b/.test(note ?? ""),
  };
}

/** A change of a part of a file: whole lines, found only once in it. */
export interface TextEdit {
  readonly oldText: string;
  readonly newText: string;
  readonly whole: string;
  /** How many places it changes. */
  readonly places: number;
}

/** Puts one text in the place of another everywhere; undefined if it is not there. */
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

/** Adds a line at the end: the last lines that are found only once are taken, and written with the new one. */
export function appendTo(text: string, line: string): TextEdit {
  const body = text.replace(/\n$/, "");
  const lines = body.split("\n");
  let taken = 1;
  let oldText = lines.slice(-taken).join("\n");
  while (taken < lines.length && body.split(oldText).length > 2) {
    taken += 1;
    oldText = lines.slice(-taken).join("\n");
  }
  return { oldText, newText: `${oldText}\n${line}`, whole: `${body}\n${line}\n`, places: 1 };
}
