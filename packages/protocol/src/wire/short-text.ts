const PREVIEW_LENGTH = 160;

/** One line, of at most 160 characters unless another length is given, for lists. */
export function previewOf(text: string, length = PREVIEW_LENGTH): string {
  return shortened(text.replace(/\s+/gu, " ").trim(), length);
}

/**
 * Reports whether a text begins with another one that may be as long. `startsWith` takes long for that: it
 * compares no memory.
 */
export function continues(text: string, beginning: string): boolean {
  return text.slice(0, beginning.length) === beginning;
}

/** The beginning of a text in so many characters, with an ellipsis if something is missing. Splits no surrogate pair. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
