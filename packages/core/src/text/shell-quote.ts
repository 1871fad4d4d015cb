/** Words that a shell reads as themselves. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** A string as one word of a POSIX shell command, quoted only where it has to be. */
export function shellQuote(word: string): string {
  return PLAIN_WORD.test(word) ? word : singleQuote(word);
}

/** A string as one word of a POSIX shell command, always in single quotes. */
export function singleQuote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
