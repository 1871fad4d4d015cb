/** Removes a pair of quotes around a string, if there is one. */
export function unquote(text: string): string {
  const trimmed = text.trim();
  return /^(`|"|')([\s\S]*)\1$/.exec(trimmed)?.[2] ?? trimmed;
}

/** Removes quotes and the punctuation of the surrounding sentence from a path. */
export function toPath(text = ""): string {
  return unquote(text.trim().replace(/[,;:?!]+$/, "")).replace(/(?<=[^./])[.?!,;]+$/, "");
}
