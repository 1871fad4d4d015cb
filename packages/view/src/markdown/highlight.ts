import { type Language, languageNamed } from "./languages.ts";

/** A piece of code and what it is. */
export interface CodePiece {
  readonly kind: "plain" | "keyword" | "string" | "comment" | "number" | "added" | "removed";
  readonly text: string;
}

/**
 * The state at the start of a line: inside of a comment or a string that began on an earlier line, or
 * outside.
 */
export interface CodeState {
  /** The text that ends the comment or string; undefined outside. */
  readonly until?: string | undefined;
  readonly kind?: "comment" | "string" | undefined;
}

/** The state before the first line. */
export const START_OF_CODE: CodeState = {};

/** Longer lines are not worth the time. */
const MAX_LINE = 2_000;

/**
 * The pieces of a line of code, and the state after it. Line by line, so that streamed code is highlighted once. It knows
 * keywords, strings, comments and numbers of common languages; anything else is plain.
 */
export function highlightLine(
  text: string,
  name: string,
  state: CodeState = START_OF_CODE,
): { readonly pieces: readonly CodePiece[]; readonly state: CodeState } {
  const language = languageNamed(name);
  if (name === "diff" || name === "patch") return { pieces: [diffPiece(text)], state };
  if (language === undefined || text.length > MAX_LINE) return { pieces: [{ kind: "plain", text }], state };
  const line = new CodeLine(text, language);
  return { pieces: line.read(state), state: line.state };
}

function diffPiece(text: string): CodePiece {
  if (text.startsWith("+")) return { kind: "added", text };
  if (text.startsWith("-")) return { kind: "removed", text };
  return { kind: text.startsWith("@@") ? "comment" : "plain", text };
}

const WORD = /^[\p{L}_$][\p{L}\p{N}_$-]*/u;
const NUMBER = /^(?:0[xob][\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)/i;

/** Reads one line from left to right; each step takes at least one character. */
class CodeLine {
  readonly #text: string;
  readonly #language: Language;
  readonly #pieces: { kind: CodePiece["kind"]; text: string }[] = [];
  #at = 0;
  state: CodeState = START_OF_CODE;

  constructor(text: string, language: Language) {
    this.#text = text;
    this.#language = language;
  }

  read(state: CodeState): readonly CodePiece[] {
    if (state.until !== undefined) this.#inside(state.until, state.kind ?? "string", 0);
    while (this.#at < this.#text.length) this.#step();
    return this.#pieces;
  }

  #step(): void {
    const rest = this.#text.slice(this.#at);
    const { lineComments, blockComments, strings, longStrings } = this.#language;
    const comment = lineComments.find((mark) => rest.startsWith(mark));
    const block = blockComments.find(([begin]) => rest.startsWith(begin));
    const long = longStrings.find((quote) => rest.startsWith(quote));
    const quote = strings.find((mark) => rest.startsWith(mark));
    if (comment !== undefined && this.#mayBegin(comment)) this.#add("comment", rest);
    else if (block !== undefined) this.#inside(block[1], "comment", block[0].length);
    else if (long !== undefined) this.#inside(long, "string", long.length);
    else if (quote !== undefined) this.#string(rest, quote);
    else this.#word(rest);
  }

  #word(rest: string): void {
    const [word] = WORD.exec(rest) ?? [];
    const [number] = NUMBER.exec(rest) ?? [];
    if (word !== undefined) this.#add(this.#language.keywords.has(word) ? "keyword" : "plain", word);
    else this.#add(number === undefined ? "plain" : "number", number ?? firstCharacter(rest));
  }

  /** `#` inside of a word, as in `$#` or `a#b`, begins no comment. */
  #mayBegin(mark: string): boolean {
    return mark !== "#" || this.#at === 0 || /\s/.test(this.#text[this.#at - 1] ?? "");
  }

  /** Something that may continue on the next line. */
  #inside(until: string, kind: "comment" | "string", from: number): void {
    const end = this.#text.indexOf(until, this.#at + from);
    const to = end === -1 ? this.#text.length : end + until.length;
    this.state = end === -1 ? { until, kind } : START_OF_CODE;
    this.#add(kind, this.#text.slice(this.#at, to));
  }

  /** A string ends on its line, whatever is missing. */
  #string(rest: string, quote: string): void {
    let end = 1;
    while (end < rest.length && rest[end] !== quote) end += rest[end] === "\\" ? 2 : 1;
    this.#add("string", rest.slice(0, end + 1));
  }

  #add(kind: CodePiece["kind"], text: string): void {
    const last = this.#pieces.at(-1);
    if (last?.kind === kind) last.text += text;
    else if (text !== "") this.#pieces.push({ kind, text });
    this.#at += text.length;
  }
}

function firstCharacter(text: string): string {
  return String.fromCodePoint(text.codePointAt(0) ?? 0);
}
