import { FileAccessError } from "@flint/host/files";

/** The text of a file. Throws a FileAccessError if it is not UTF-8. */
export function decode(bytes: Uint8Array, name: string): string {
  // Expected: a file that is not text. Writing it back would corrupt it.
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new FileAccessError(`${name} is not text.`, { cause });
  }
}

const BYTE_ORDER_MARK = "\ufeff";

/** The line endings and byte order mark of a text file. */
export interface TextFormat {
  readonly hasByteOrderMark: boolean;
  /** True if all lines end with CRLF. */
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
export function stripFormat(text: string): string {
  const { hasByteOrderMark, usesCrlf } = formatOf(text);
  const content = hasByteOrderMark ? text.slice(BYTE_ORDER_MARK.length) : text;
  return usesCrlf ? content.replaceAll("\r\n", "\n") : content;
}
