/** A text as one word of a shell command, whatever it holds. */
export function shellWord(text: string): string {
  return /^[\w.][\w./-]*$/.test(text) ? text : quotedWord(text);
}

/** The same, and always in quotes. */
export function quotedWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
