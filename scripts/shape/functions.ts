import type { Token } from "../../test/source/tokens.ts";

/** A function with a body in braces: its name, where it begins, and how many lines it has. */
export type FunctionShape = { name: string; line: number; lines: number };

const CONTROL = new Set(["if", "for", "while", "switch", "catch", "with", "await"]);
const CLOSING: Record<string, string> = { "(": ")", "[": "]", "{": "}" };

/**
 * Finds functions by their brackets. Approximate: arrow functions without braces are not counted, since they
 * are short, and a return type of unusual make may hide a function.
 */
export function functionsIn(tokens: readonly Token[]): FunctionShape[] {
  const partners = matchBrackets(tokens);
  return tokens.flatMap((token, index) => {
    if (is(token, "=>")) return arrow(tokens, index, partners) ?? [];
    if (is(token, "(")) return named(tokens, index, partners) ?? [];
    return [];
  });
}

function arrow(
  tokens: readonly Token[],
  index: number,
  partners: Map<number, number>,
): FunctionShape | undefined {
  if (!is(tokens[index + 1], "{")) return undefined;
  const before = is(tokens[index - 1], ")") ? partners.get(index - 1) : index - 1;
  return shape("(arrow)", tokens, before ?? index, index + 1, partners);
}

function named(
  tokens: readonly Token[],
  open: number,
  partners: Map<number, number>,
): FunctionShape | undefined {
  const start = is(tokens[open - 1], ">") ? beforeGenerics(tokens, open - 1) : open - 1;
  const name = tokens[start];
  const close = partners.get(open);
  if (name?.kind !== "word" || CONTROL.has(name.text) || close === undefined) return undefined;
  const body = is(tokens[close + 1], ":") ? afterType(tokens, close + 2, partners) : close + 1;
  return body !== undefined && is(tokens[body], "{")
    ? shape(name.text, tokens, start, body, partners)
    : undefined;
}

/** The token before `<...>` that ends at `close`. */
function beforeGenerics(tokens: readonly Token[], close: number): number {
  let depth = 0;
  for (let index = close; index >= 0; index -= 1) {
    if (is(tokens[index], ">")) depth += 1;
    if (is(tokens[index], "<")) depth -= 1;
    if (depth === 0) return index - 1;
  }
  return -1;
}

/** Steps over a return type; undefined when what follows the colon is not a type, as in a ternary or a case. */
function afterType(
  tokens: readonly Token[],
  from: number,
  partners: Map<number, number>,
): number | undefined {
  let wantsOperand = true;
  for (let index = from; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token === undefined) return undefined;
    if (is(token, "{") && !wantsOperand) return index;
    const joins =
      token.kind === "punctuation" ? /^([|&.<>,?:]|=>)$/.test(token.text) : JOINING_WORDS.has(token.text);
    const opens = token.kind === "punctuation" && token.text in CLOSING;
    if (!joins && !opens && token.kind === "punctuation") return undefined;
    if (!joins && !wantsOperand && !is(token, "[")) return undefined;
    if (opens) index = partners.get(index) ?? tokens.length;
    wantsOperand = joins && !is(token, ">");
  }
  return undefined;
}

const JOINING_WORDS = new Set("is asserts extends keyof typeof readonly infer unique new".split(" "));

function shape(
  name: string,
  tokens: readonly Token[],
  start: number,
  body: number,
  partners: Map<number, number>,
): FunctionShape | undefined {
  const first = tokens[start]?.line;
  const last = tokens[partners.get(body) ?? -1]?.line;
  return first === undefined || last === undefined
    ? undefined
    : { name, line: first, lines: last - first + 1 };
}

/** For every bracket the index of its partner, both ways. */
function matchBrackets(tokens: readonly Token[]): Map<number, number> {
  const partners = new Map<number, number>();
  const open: number[] = [];
  tokens.forEach((token, index) => {
    if (token.kind !== "punctuation") return;
    if (token.text in CLOSING) open.push(index);
    if (!/^[)\]}]$/.test(token.text)) return;
    const start = open.pop();
    if (start === undefined) return;
    partners.set(start, index);
    partners.set(index, start);
  });
  return partners;
}

function is(token: Token | undefined, text: string): boolean {
  return token?.kind === "punctuation" && token.text === text;
}
