import { stripVTControlCharacters } from "node:util";
import { toWellFormed } from "./characters.ts";

// Control characters except line feed and tab, and those that change the direction of the text around them.
const INVISIBLE = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu;

/** The beginning of a text, well-formed, with an ellipsis if something is missing. */
export function truncate(text: string, limit: number): string {
  if (text.length <= limit) return toWellFormed(text);
  return `${toWellFormed(text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, ""))}…`;
}

/** Untrusted text for a line of our own: truncated, and without characters that cannot be seen. */
export function displayText(text: string, limit: number): string {
  // Much of it may be invisible, but a flood of that is not searched to its end.
  const start = stripVTControlCharacters(text.slice(0, 4 * limit));
  return truncate(start.replace(INVISIBLE, ""), limit).trim();
}
