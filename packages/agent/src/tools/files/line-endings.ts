const BYTE_ORDER_MARK = "\ufeff";

/** How a text is written beside its words: its line ends and the mark at its beginning. */
export interface TextFormat {
  readonly hasByteOrderMark: boolean;
  /** All its lines end with CRLF. */
  readonly usesCrlf: boolean;
}

/** How a text is written. One without line ends is like most. */
export function formatOf(text: string): TextFormat {
  const newlines = text.split("\n").length - 1;
  const pairs = text.split("\r\n").length - 1;
  return { hasByteOrderMark: text.startsWith(BYTE_ORDER_MARK), usesCrlf: pairs > 0 && pairs === newlines };
}

/** A text in the words of a model, written in a style that its file has. */
export function withFormat(text: string, style: TextFormat): string {
  const lines = withLineEndings(text, style);
  return style.hasByteOrderMark && !lines.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK + lines : lines;
}

/** A piece of a text with the line ends of its file. A piece that has CRLF itself is left as it is. */
export function withLineEndings(text: string, { usesCrlf }: TextFormat): string {
  return usesCrlf && !text.includes("\r") ? text.replaceAll("\n", "\r\n") : text;
}

/** A text without its style, as `inStyle` takes it. */
export function withoutFormat(text: string): string {
  const { hasByteOrderMark, usesCrlf } = formatOf(text);
  const words = hasByteOrderMark ? text.slice(BYTE_ORDER_MARK.length) : text;
  return usesCrlf ? words.replaceAll("\r\n", "\n") : words;
}
