// Replaces bytes.ts in browser bundles ("browser" in package.json): the same functions, without Node.
const ENCODER = new TextEncoder();
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });
const STRICT_DECODER = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** Reports whether bytes are UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
  // Expected: a strict decoder throws on anything else.
  try {
    STRICT_DECODER.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** The text with every half of a surrogate pair that stands alone replaced. */
export function wellFormed(text: string): string {
  return DECODER.decode(ENCODER.encode(text));
}

/** The same memory, as what this platform searches fastest. */
export function viewOf(bytes: Uint8Array): Uint8Array {
  return bytes;
}

/** The text in UTF-8. */
export function encodeText(text: string): Uint8Array {
  return ENCODER.encode(text);
}

/** The text of bytes that are UTF-8; a byte order mark stays in it. */
export function decodeText(bytes: Uint8Array, start: number, end: number): string {
  return DECODER.decode(bytes.subarray(start, end));
}

/** Memory to be written before it is read. */
export function allocate(size: number): Uint8Array {
  return new Uint8Array(size);
}
