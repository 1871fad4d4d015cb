/** A piece of TypeScript source. Template literals give one token per stretch of text between `${}`. */
export type Token = {
  kind: "comment" | "word" | "string" | "template" | "regex" | "punctuation";
  /** Comments whole; strings, templates and regular expressions without their delimiters. */
  text: string;
  line: number;
};

/** Words after which a slash begins a regular expression, not a division. */
const OPERATOR_WORDS = new Set(
  "await case delete do else in instanceof new of return throw typeof void yield".split(" "),
);

const WORD = /[\p{L}\p{N}_$#@]+/uy;

/**
 * Cuts source into tokens. It is not a parser: it knows just enough to never take a comment, a string or a
 * regular expression for code, which is all that scanning for imports, titles and braces needs.
 */
export function tokenize(source: string): Token[] {
  return new Tokenizer(source).all();
}

/** The tokens that run: everything but comments. */
export function codeTokens(source: string): Token[] {
  return tokenize(source).filter((token) => token.kind !== "comment");
}

/** The end of the token at the current position, and the length of the delimiter at each end. */
type Extent = { kind: Token["kind"]; end: number; opening?: number; closing?: number };

class Tokenizer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  /** For each open `${`, how many plain braces are open inside it. */
  readonly #templateDepths: number[] = [];
  #position = 0;
  #line = 1;

  constructor(source: string) {
    this.#source = source;
  }

  all(): Token[] {
    if (this.#source.startsWith("#!")) this.#skipTo(this.#endOfLine());
    while (this.#position < this.#source.length) {
      if (/\s/.test(this.#character())) this.#skipTo(this.#position + 1);
      else this.#take(this.#measure());
    }
    return this.#tokens;
  }

  #measure(): Extent {
    const character = this.#character();
    if (this.#source.startsWith("//", this.#position)) return { kind: "comment", end: this.#endOfLine() };
    if (this.#source.startsWith("/*", this.#position)) return { kind: "comment", end: this.#endOfBlock() };
    if (character === '"' || character === "'") return this.#string(character);
    if (character === "`" || this.#closesExpression(character)) return this.#template();
    if (character === "/" && this.#expectsValue()) return this.#regex();
    WORD.lastIndex = this.#position;
    const word = WORD.exec(this.#source)?.[0];
    return word === undefined ? this.#punctuation() : { kind: "word", end: this.#position + word.length };
  }

  #punctuation(): Extent {
    const length = this.#source.startsWith("=>", this.#position) ? 2 : 1;
    return { kind: "punctuation", end: this.#position + length };
  }

  #string(quote: string): Extent {
    for (let end = this.#position + 1; end < this.#source.length; end += 1) {
      if (this.#source[end] === quote) return { kind: "string", end: end + 1, opening: 1, closing: 1 };
      if (this.#source[end] === "\n") break;
      if (this.#source[end] === "\\") end += 1;
    }
    // A quote without a partner on its line is text, as an apostrophe in JSX is.
    return this.#punctuation();
  }

  /** Reads from a backtick, or from the brace that closes `${}`, to the next of either. */
  #template(): Extent {
    for (let end = this.#position + 1; end < this.#source.length; end += 1) {
      if (this.#source[end] === "`") return { kind: "template", end: end + 1, opening: 1, closing: 1 };
      if (this.#source.startsWith("${", end)) {
        this.#templateDepths.push(0);
        return { kind: "template", end: end + 2, opening: 1, closing: 2 };
      }
      if (this.#source[end] === "\\") end += 1;
    }
    return { kind: "template", end: this.#source.length, opening: 1 };
  }

  /** Counts braces inside `${}` and returns whether this one ends the expression. */
  #closesExpression(character: string): boolean {
    const depth = this.#templateDepths.pop();
    if (depth === undefined) return false;
    if (character === "}" && depth === 0) return true;
    this.#templateDepths.push(depth + (character === "{" ? 1 : character === "}" ? -1 : 0));
    return false;
  }

  #regex(): Extent {
    let inClass = false;
    for (let end = this.#position + 1; end < this.#source.length; end += 1) {
      const character = this.#source[end];
      if (character === "\n") break;
      if (character === "/" && !inClass) return { kind: "regex", end: end + 1, opening: 1, closing: 1 };
      if (character === "\\") end += 1;
      else if (character === "[") inClass = true;
      else if (character === "]") inClass = false;
    }
    return this.#punctuation();
  }

  #expectsValue(): boolean {
    const before = this.#tokens.findLast((token) => token.kind !== "comment");
    if (before === undefined) return true;
    if (before.kind === "word") return OPERATOR_WORDS.has(before.text);
    return before.kind === "punctuation" && !/[)\]}]/.test(before.text);
  }

  #character(): string {
    return this.#source.charAt(this.#position);
  }

  #endOfBlock(): number {
    const found = this.#source.indexOf("*/", this.#position + 2);
    return found === -1 ? this.#source.length : found + 2;
  }

  #endOfLine(): number {
    const found = this.#source.indexOf("\n", this.#position);
    return found === -1 ? this.#source.length : found;
  }

  #take({ kind, end, opening = 0, closing = 0 }: Extent): void {
    const text = this.#source.slice(this.#position + opening, end - closing);
    this.#tokens.push({ kind, text, line: this.#line });
    this.#skipTo(end);
  }

  #skipTo(end: number): void {
    this.#line += this.#source.slice(this.#position, end).split("\n").length - 1;
    this.#position = end;
  }
}
