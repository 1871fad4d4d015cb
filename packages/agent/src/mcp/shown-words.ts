import { displayText } from "@flint/core/text";
import type { Redaction } from "./redaction.ts";

/** Much more is kept than is shown, so that a secret which the keeping cut in two is not in what is shown. */
export const KEPT_CHARACTERS = 64 * 1024;
const SHOWN_LINES = 8;
const SHOWN_CHARACTERS = 1000;

/** The last lines of what a server wrote to its error output, for people, without secrets. */
export function shownWords(text: string, redaction: Redaction): string {
  const lines = redaction.apply(text).split("\n");
  const shown = lines.filter((line) => line.trim() !== "").slice(-SHOWN_LINES);
  return displayText(shown.join("\n").slice(-SHOWN_CHARACTERS), SHOWN_CHARACTERS);
}
