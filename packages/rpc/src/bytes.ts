import { Buffer, isUtf8 as isUtf8InNode } from "node:buffer";
import { toUSVString } from "node:util";

/** Reports whether bytes are UTF-8. */
export const isUtf8: (bytes: Uint8Array) => boolean = isUtf8InNode;

/** The text with every half of a surrogate pair that stands alone replaced. */
export const wellFormed: (text: string) => string = toUSVString;

/** The same memory, as what this platform searches fastest. */
export function viewOf(bytes: Uint8Array): Uint8Array {
  return bufferOf(bytes);
}

/** The text in UTF-8. */
export function encodeText(text: string): Uint8Array {
  return Buffer.from(text);
}

/** The text of bytes that are UTF-8; a byte order mark stays in it. */
export function decodeText(bytes: Uint8Array, start: number, end: number): string {
  return bufferOf(bytes).toString("utf8", start, end);
}

/** Memory whose content is not defined, to be written before it is read. */
export function allocate(size: number): Uint8Array {
  return Buffer.allocUnsafeSlow(size);
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
