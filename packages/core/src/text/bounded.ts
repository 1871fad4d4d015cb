/** How much of a limit the beginning of a text may take. */
export const HEAD_SHARE = 0.75;
/** How much its end may take; the rest is for the line between them. */
export const TAIL_SHARE = 0.2;

/** The longest beginning of a text that takes at most so many bytes as UTF-8, without splitting a character. */
export function headOf(text: string, bytes: number): string {
  if (bytes <= 0) return "";
  if (Buffer.byteLength(text) <= bytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}

/** The longest end of a text that takes at most so many bytes as UTF-8, without splitting a character. */
export function tailOf(text: string, bytes: number): string {
  if (bytes <= 0) return "";
  const end = Buffer.from(text.slice(-bytes));
  let start = Math.max(0, end.length - bytes);
  while (isContinuation(end[start])) start += 1;
  return end.toString("utf8", start);
}

/** Keeps the beginning and the end of a text that is too long, with a line between them that states the gap. */
export function cutMiddle(text: string, bytes: number): { readonly text: string; readonly omitted: number } {
  const size = Buffer.byteLength(text);
  if (size <= bytes) return { text, omitted: 0 };
  const head = headOf(text, Math.floor(bytes * HEAD_SHARE));
  const tail = tailOf(text, Math.floor(bytes * TAIL_SHARE));
  const omitted = size - Buffer.byteLength(head) - Buffer.byteLength(tail);
  return { text: `${head}${gapLine(omitted)}${tail}`, omitted };
}

/** The line that stands for the bytes left out between the beginning and the end of a text. */
export function gapLine(omitted: number): string {
  return `\n… ${omitted} bytes left out …\n`;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
