import { toWellFormed } from "@flint/core/text";

/** Every control character except tab and line endings. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** Untrusted text for a model: well-formed, with control characters replaced by visible symbols. */
export function visibleText(text: string): string {
  return toWellFormed(text).replace(CONTROLS, (control) =>
    control === "\u007f" ? "\u2421" : String.fromCharCode(0x2400 + control.charCodeAt(0)),
  );
}

/** A JSON value with all its strings well-formed, cut off below a depth that no real input has. */
export function wellFormedValue(value: unknown, depth = 32): unknown {
  if (typeof value === "string") return toWellFormed(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.map((item) => wellFormedValue(item, depth - 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [toWellFormed(key), wellFormedValue(field, depth - 1)]),
  );
}

/** Cuts the middle out of a text that is too long, with a line in its place that counts the omitted characters. */
export function truncateMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  const omitted = text.length - 2 * half;
  const shortened = `${text.slice(0, half)}\n… ${omitted} characters left out …\n${text.slice(text.length - half)}`;
  // The cuts may have split surrogate pairs.
  return toWellFormed(shortened);
}
