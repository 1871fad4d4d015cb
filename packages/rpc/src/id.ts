/** Any value that JSON can hold. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A number that a JavaScript number would change (2^70, 1e400), kept as the text it came in. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The digits as they were received. */
  toString(): string {
    return this.text;
  }
}

/** What a peer calls its request. Whatever JSON it chose is echoed; numbers keep their exact value. */
export type Id = Json | ExactNumber;

/** The id as JSON text: goes on the wire, and serves as a key where ids of any type are compared. */
export function idText(id: Id): string {
  if (typeof id === "number") return Number.isFinite(id) ? String(id) : "null";
  if (id instanceof ExactNumber) return id.text;
  return JSON.stringify(id);
}

/** The id to echo for a parsed one, given how to get its text when the number may have lost digits. */
export function exactId(parsed: Json, text: () => string | undefined): Id {
  if (typeof parsed !== "number" || Number.isSafeInteger(parsed)) return parsed;
  const original = text();
  return original === undefined || original === String(parsed) ? parsed : new ExactNumber(original);
}
