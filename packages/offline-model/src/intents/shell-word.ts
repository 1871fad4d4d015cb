export { quotedWord } from "@flint/agent/review-commands";

import { quotedWord } from "@flint/agent/review-commands";

/** A text as one word of a shell command, whatever it holds. */
export function shellWord(text: string): string {
  return /^[\w.][\w./-]*$/.test(text) ? text : quotedWord(text);
}
