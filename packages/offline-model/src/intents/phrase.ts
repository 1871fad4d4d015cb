/**
 * A pattern that is only tried on a text that holds one of the words without which it cannot fit. To make a pattern
 * ready costs more than to look for a word, and of dozens of them a request needs one or two.
 */
export class Phrase {
  readonly #pattern: RegExp;
  #words: readonly string[] | undefined;
  #isRead = false;

  /** The pattern has to be one that does not mind the case, and remembers nothing between two uses. */
  constructor(pattern: RegExp) {
    this.#pattern = pattern;
  }

  exec(text: string): RegExpExecArray | null {
    return this.#mayFit(text) ? this.#pattern.exec(text) : null;
  }

  test(text: string): boolean {
    return this.#mayFit(text) && this.#pattern.test(text);
  }

  #mayFit(text: string): boolean {
    if (!this.#isRead) this.#words = firstWords(this.#pattern.source);
    this.#isRead = true;
    if (this.#words === undefined) return true;
    const lower = text.toLowerCase();
    return this.#words.some((word) => lower.includes(word));
  }
}

/**
 * The words that a pattern begins with, one of which every text that fits it holds; undefined if that cannot be told
 * from the pattern.
 */
export function firstWords(source: string): readonly string[] | undefined {
  const words: string[] = [];
  for (const branch of branches(source)) {
    const found = wordsOf(branch);
    if (found === undefined) return undefined;
    words.push(...found);
  }
  return words;
}

function wordsOf(branch: string): readonly string[] | undefined {
  let from = 0;
  while (branch[from] === "^" || branch.startsWith("\\b", from)) from += branch[from] === "^" ? 1 : 2;
  const rest = branch.slice(from);
  if (!rest.startsWith("(")) return literal(rest);
  if (!rest.startsWith("(?:")) return undefined;
  const end = closing(rest);
  const after = rest.slice(end + 1);
  // What may be missing tells nothing; what comes behind it does.
  if (/^[?*]/.test(after)) return wordsOf(after.slice(1));
  return after.startsWith("{") ? undefined : firstWords(rest.slice(3, end));
}

function literal(rest: string): readonly string[] | undefined {
  const [letters = ""] = /^[a-z]+/i.exec(rest) ?? [];
  // A sign behind it may make the last letter optional.
  const word = /^[?*{]/.test(rest.slice(letters.length)) ? letters.slice(0, -1) : letters;
  return word.length < 2 ? undefined : [word.toLowerCase()];
}

/** The signs that give a pattern its parts. An escaped sign is none of them, nor is what stands in a set of signs. */
const SIGNS = /\\.|\[(?:\\.|[^\]\\])*\]|[()|]/gs;

/** The parts between the bars that are in no bracket. */
function branches(source: string): string[] {
  const found: string[] = [];
  let from = 0;
  let depth = 0;
  for (const { 0: sign, index } of source.matchAll(SIGNS)) {
    if (sign === "(") depth += 1;
    else if (sign === ")") depth -= 1;
    else if (sign === "|" && depth === 0) {
      found.push(source.slice(from, index));
      from = index + 1;
    }
  }
  return [...found, source.slice(from)];
}

/** Where the bracket closes that a text begins with. */
function closing(source: string): number {
  let depth = 0;
  for (const { 0: sign, index } of source.matchAll(SIGNS)) {
    if (sign === "(") depth += 1;
    else if (sign === ")") depth -= 1;
    if (depth === 0) return index;
  }
  return source.length;
}
