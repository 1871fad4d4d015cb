import { isUtf8 } from "node:buffer";

/** A half character that stands for one byte of a name that is not UTF-8; in whole characters it does not occur. */
const ESCAPED = /[\uDC80-\uDCFF]/gu;
const ESCAPE_BASE = 0xdc00;
/** Quick to say no: a path of plain letters cannot hold any of these. */
const HALF = /[\uDC80-\uDCFF]/;

/**
 * A name as text from which its exact bytes can be had again: every byte that is not UTF-8 stands as half a character.
 * Names of files need not be text at all.
 */
export function textOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    text +=
      length === 0
        ? String.fromCharCode(ESCAPE_BASE + (bytes[at] ?? 0))
        : bytes.toString("utf8", at, at + length);
    at += Math.max(1, length);
  }
  return text;
}

/** The path that the file system understands. */
export function nativePath(path: string): string | Buffer {
  if (!HALF.test(path) || path.search(ESCAPED) === -1) return path;
  const parts: Buffer[] = [];
  for (const character of path) {
    const code = character.charCodeAt(0);
    const isByte = character.length === 1 && code >= 0xdc80 && code <= 0xdcff;
    parts.push(isByte ? Buffer.of(code - ESCAPE_BASE) : Buffer.from(character, "utf8"));
  }
  return Buffer.concat(parts);
}

/** A path as people can read it: a byte that is no text is shown as `\xNN`. */
export function shownPath(path: string): string {
  return path.replace(ESCAPED, (half) => `\\x${(half.charCodeAt(0) - ESCAPE_BASE).toString(16)}`);
}

/** How many bytes the character at this place has; 0 if there is none. */
function characterLength(bytes: Buffer, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length += 1) {
    if (isUtf8(bytes.subarray(at, at + length))) return length;
  }
  return 0;
}
