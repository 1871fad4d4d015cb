/** The longest beginning of a text that takes at most so many bytes as UTF-8, without cutting a character in two. */
export function headOf(text: string, bytes: number): string {
  if (bytes <= 0) return "";
  if (Buffer.byteLength(text) <= bytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}

/** The longest end of a text that takes at most so many bytes as UTF-8, without cutting a character in two. */
export function tailOf(text: string, bytes: number): string {
  if (bytes <= 0) return "";
  const end = Buffer.from(text.slice(-bytes));
  let start = Math.max(0, end.length - bytes);
  while (isContinuation(end[start])) start += 1;
  return end.toString("utf8", start);
}

/** The beginning and the end of a text that is too long, with a line between them that says what is missing. */
export function cutMiddle(text: string, bytes: number): { readonly text: string; readonly omitted: number } {
  const size = Buffer.byteLength(text);
  if (size <= bytes) return { text, omitted: 0 };
  const head = headOf(text, Math.floor(bytes * 0.75));
  const tail = tailOf(text, Math.floor(bytes * 0.2));
  const omitted = size - Buffer.byteLength(head) - Buffer.byteLength(tail);
  return { text: `${head}\n… ${omitted} bytes left out …\n${tail}`, omitted };
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
