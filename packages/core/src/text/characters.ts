import { stripVTControlCharacters } from "node:util";
import { lazy, shortened } from "@flint/protocol";

/** Replaces lone surrogates, which many models and parsers reject. */
export function toWellFormed(text: string): string {
  // The ES2023 library types do not know these methods of Node 20 yet.
  const string = text as string & { isWellFormed(): boolean; toWellFormed(): string };
  return string.isWellFormed() ? text : string.toWellFormed();
}

/** Makes all strings of a JSON value well-formed. Returns the same object if they are already. */
export function wellFormed<Value>(value: Value): Value {
  // The shape stays as it is; only the content of strings may change.
  return repaired(value) as Value;
}

function repaired(value: unknown): unknown {
  if (typeof value === "string") return toWellFormed(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(repaired);
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  const entries = Object.entries(value).map(([key, field]) => [toWellFormed(key), repaired(field)] as const);
  const isSame = Object.entries(value).every(
    ([key, field], at) => entries[at]?.[0] === key && Object.is(entries[at]?.[1], field),
  );
  return isSame ? value : Object.fromEntries(entries);
}

/**
 * Characters that are invisible or change how the text after them is displayed: controls, bidirectional marks, joiners
 * and tags, blanks other than the space, and letters without a glyph. Tabs and newlines are allowed. Compiled on first
 * use, because expanding the Unicode classes takes long.
 */
const hidden = lazy(
  () =>
    // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is matched on its own
    /[^\P{C}\t\n]|[\p{Zl}\p{Zp}]|[^\P{Zs} ]|[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]|[\u{e0100}-\u{e01ef}]/u,
);

/** Reports whether a text contains characters that a reader would not notice. */
export function hasHiddenCharacters(text: string): boolean {
  return hidden().test(text);
}

// Control characters except line feed and tab, and those that change the direction of the text around them.
const INVISIBLE = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu;

/** The beginning of a text, well-formed, with an ellipsis if something is missing. */
export function truncate(text: string, limit: number): string {
  return toWellFormed(shortened(text, limit));
}

/** Untrusted text for a line of our own: truncated, and without characters that cannot be seen. */
export function displayText(text: string, limit: number): string {
  // Much of it may be invisible, but a flood of that is not searched to its end.
  const start = stripVTControlCharacters(text.slice(0, 4 * limit));
  return truncate(start.replace(INVISIBLE, ""), limit).trim();
}

/** Every control character except tab and line endings. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** Untrusted text for a model: well-formed, with control characters replaced by visible symbols. */
export function visibleText(text: string): string {
  return toWellFormed(text).replace(CONTROLS, (control) =>
    control === "\u007f" ? "\u2421" : String.fromCharCode(0x2400 + control.charCodeAt(0)),
  );
}
