/** The style of a piece of a line, on terminals with colours. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan" | "inverse";

/** A piece of a line in one style. Its text has no control characters. */
export interface Span {
  readonly text: string;
  readonly style?: Style | undefined;
}

/** A line, before it is wrapped or cut to a width. */
export type Line = readonly Span[];

const CODES: Readonly<Record<Style, number>> = {
  bold: 1,
  dim: 2,
  inverse: 7,
  red: 31,
  green: 32,
  yellow: 33,
  cyan: 36,
};

/** A piece of a line. */
export function span(text: string, style?: Style): Span {
  return style === undefined ? { text } : { text, style };
}

/** A line of one piece. */
export function lineOf(text: string, style?: Style): Line {
  return text === "" ? [] : [span(text, style)];
}

/** Each line of a text. */
export function linesOf(text: string, style?: Style): Line[] {
  return text.split("\n").map((each) => lineOf(each, style));
}

/** The line, indented by spaces. */
export function indented(line: Line, by: number): Line {
  return line.length === 0 || by === 0 ? line : [span(" ".repeat(by)), ...line];
}

/** The text of a line without its styles. */
export function textOf(line: Line): string {
  return line.map((each) => each.text).join("");
}

/** The line as it is written to a terminal. */
export function styled(line: Line, colour: boolean): string {
  if (!colour) return textOf(line);
  return line.map(({ text, style }) => (style === undefined ? text : withStyle(text, style))).join("");
}

function withStyle(text: string, style: Style): string {
  return text === "" ? "" : `\u001b[${CODES[style]}m${text}\u001b[0m`;
}
