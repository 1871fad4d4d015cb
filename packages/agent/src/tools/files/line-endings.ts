const BYTE_ORDER_MARK = "\ufeff";

/** How a text is written beside its words: its line ends and the mark at its beginning. */
export interface TextStyle {
  readonly isMarked: boolean;
  /** All its lines end with CRLF. */
  readonly hasCarriageReturns: boolean;
}

/** How a text is written. One without line ends is like most. */
export function styleOf(text: string): TextStyle {
  const newlines = text.split("\n").length - 1;
  const pairs = text.split("\r\n").length - 1;
  return { isMarked: text.startsWith(BYTE_ORDER_MARK), hasCarriageReturns: pairs > 0 && pairs === newlines };
}

/** A text in the words of a model, written in a style that its file has. */
export function inStyle(text: string, style: TextStyle): string {
  const lines = withLineEnds(text, style);
  return style.isMarked && !lines.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK + lines : lines;
}

/** A piece of a text with the line ends of its file. A piece that has CRLF itself is left as it is. */
export function withLineEnds(text: string, { hasCarriageReturns }: TextStyle): string {
  return hasCarriageReturns && !text.includes("\r") ? text.replaceAll("\n", "\r\n") : text;
}

/** A text without its style, as `inStyle` takes it. */
export function plainText(text: string): string {
  const { isMarked, hasCarriageReturns } = styleOf(text);
  const words = isMarked ? text.slice(BYTE_ORDER_MARK.length) : text;
  return hasCarriageReturns ? words.replaceAll("\r\n", "\n") : words;
}
