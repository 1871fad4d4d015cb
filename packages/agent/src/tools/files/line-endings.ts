const BYTE_ORDER_MARK = "\ufeff";

/** The line endings and byte order mark of a text file. */
export interface TextFormat {
  readonly hasByteOrderMark: boolean;
  /** Whether all lines end with CRLF. */
  readonly usesCrlf: boolean;
}

/** Detects the format of a text. */
export function formatOf(text: string): TextFormat {
  const newlines = text.split("\n").length - 1;
  const pairs = text.split("\r\n").length - 1;
  return { hasByteOrderMark: text.startsWith(BYTE_ORDER_MARK), usesCrlf: pairs > 0 && pairs === newlines };
}

/** Converts a text of a model to the format of its file. */
export function withFormat(text: string, format: TextFormat): string {
  const lines = withLineEndings(text, format);
  return format.hasByteOrderMark && !lines.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK + lines : lines;
}

/** Converts the line endings of a part of a text. A part that has CRLF itself is left as it is. */
export function withLineEndings(text: string, { usesCrlf }: TextFormat): string {
  return usesCrlf && !text.includes("\r") ? text.replaceAll("\n", "\r\n") : text;
}

/** Removes the format from a text, the reverse of `withFormat`. */
export function withoutFormat(text: string): string {
  const { hasByteOrderMark, usesCrlf } = formatOf(text);
  const content = hasByteOrderMark ? text.slice(BYTE_ORDER_MARK.length) : text;
  return usesCrlf ? content.replaceAll("\r\n", "\n") : content;
}
