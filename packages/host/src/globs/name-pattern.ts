import { fitsWithStars } from "./star-match.ts";

/** One part of a name pattern: any number of characters, any one, this one, or one of a set. */
type Token =
  | { readonly kind: "star" }
  | { readonly kind: "any" }
  | { readonly kind: "sign"; readonly sign: string }
  | {
      readonly kind: "set";
      readonly ranges: readonly (readonly [from: number, to: number])[];
      readonly not: boolean;
    };

/** A leading surrogate; a lone one counts as a character. */
const FIRST_HALF = /[\uD800-\uDBFF]/;

/**
 * A pattern for one name, as shells and git write them: `*`, `?`, `[a-z]`, `[!a]`, and `\` before a literal
 * character. An unclosed `[` is literal too. Takes no longer than its length times that of the name.
 */
export class NamePattern {
  readonly #tokens: readonly Token[];
  /** Most patterns are a name or `*.end`, which is compared at once. */
  readonly #isOpen: boolean;
  readonly #end: string | undefined;

  private constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
    this.#isOpen = tokens[0]?.kind === "star";
    const rest = this.#isOpen ? tokens.slice(1) : tokens;
    const signs = rest.flatMap((token) => (token.kind === "sign" ? [token.sign] : []));
    this.#end = signs.length === rest.length ? signs.join("") : undefined;
  }

  /** Reads a pattern; every text is one. */
  static of(text: string): NamePattern {
    return new NamePattern(tokensOf([...text]));
  }

  /** Whether a name fits. */
  fits(name: string): boolean {
    if (this.#end !== undefined) return this.#isOpen ? name.endsWith(this.#end) : name === this.#end;
    return fitsWithStars(this.#tokens, FIRST_HALF.test(name) ? [...name] : name, isStar, fitsSign);
  }
}

function isStar({ kind }: Token): boolean {
  return kind === "star";
}

function fitsSign(token: Token, sign: string): boolean {
  switch (token.kind) {
    case "star":
    case "any":
      return true;
    case "sign":
      return token.sign === sign;
    case "set": {
      const code = codeOf(sign);
      return token.ranges.some(([from, to]) => from <= code && code <= to) !== token.not;
    }
  }
}

function tokensOf(signs: readonly string[]): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < signs.length; at += 1) {
    const sign = signs[at] ?? "";
    const set = sign === "[" ? readSet(signs, at) : undefined;
    if (set !== undefined) {
      tokens.push(set.token);
      at = set.end;
    } else if (sign === "*") tokens.push({ kind: "star" });
    else if (sign === "?") tokens.push({ kind: "any" });
    else if (sign === "\\" && at + 1 < signs.length) {
      at += 1;
      tokens.push({ kind: "sign", sign: signs[at] ?? "" });
    } else tokens.push({ kind: "sign", sign });
  }
  return tokens;
}

/** The set that begins at a place, and where it ends; undefined if it does not. */
function readSet(signs: readonly string[], start: number): { token: Token; end: number } | undefined {
  const not = signs[start + 1] === "!" || signs[start + 1] === "^";
  const ranges: [number, number][] = [];
  const first = start + (not ? 2 : 1);
  for (let at = first; at < signs.length; at += 1) {
    if (signs[at] === "]" && at > first) return { token: { kind: "set", ranges, not }, end: at };
    if (signs[at] === "\\") at += 1;
    const from = codeOf(signs[at]);
    const isRange = signs[at + 1] === "-" && at + 2 < signs.length && signs[at + 2] !== "]";
    if (isRange) at += signs[at + 2] === "\\" ? 3 : 2;
    ranges.push([from, isRange ? codeOf(signs[at]) : from]);
  }
  return undefined;
}

function codeOf(sign: string | undefined): number {
  return sign?.codePointAt(0) ?? 0;
}
