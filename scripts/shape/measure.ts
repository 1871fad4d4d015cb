import { type Token, tokenize } from "../../test/source/tokens.ts";
import { type FunctionShape, functionsIn } from "./functions.ts";

/** The measures of one source file. */
export type FileShape = {
  path: string;
  lines: number;
  functions: FunctionShape[];
  casts: number;
  any: number;
  nonNull: number;
  exported: number;
  documented: number;
};

const BEFORE_TYPE = new Set([":", "<", "|", "&", ",", "=", "=>", "(", "as"]);
const NOT_A_VALUE = new Set(
  "await case delete do else in instanceof new of return throw typeof void yield".split(" "),
);
const MODIFIERS = new Set(["default", "declare", "abstract", "async"]);
const DECLARATIONS = new Set(["function", "class", "const", "let", "type", "interface"]);

/** Measures one file by its tokens. Approximate by nature, the same way for every file. */
export function measureFile(path: string, source: string): FileShape {
  const tokens = tokenize(source);
  const code = tokens.filter((token) => token.kind !== "comment");
  const count = (matches: (tokens: readonly Token[], index: number) => boolean) =>
    code.filter((_, index) => matches(code, index)).length;
  const declarations = tokens.flatMap((_, index) =>
    isDeclaration(tokens, index) ? [tokens[index - 1]] : [],
  );
  return {
    path,
    lines: source.split("\n").length - (source.endsWith("\n") ? 1 : 0),
    functions: functionsIn(code),
    casts: count(isCast),
    any: count(isAny),
    nonNull: count(isNonNull),
    exported: declarations.length,
    documented: declarations.filter((before) => before?.kind === "comment" && before.text.startsWith("/**"))
      .length,
  };
}

/** The value below which the given share of a sorted list lies; 0 for an empty list. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function isCast(code: readonly Token[], index: number): boolean {
  if (code[index]?.kind !== "word" || code[index]?.text !== "as") return false;
  const after = code[index + 1];
  if (after?.text === "const" || code[index - 1]?.text === "*") return false;
  return after?.kind !== "punctuation" || /^[{[(]$/.test(after.text) ? !isRenaming(code, index) : false;
}

/** Reports whether the `as` at `index` stands in the braces of an import or export, where it only renames. */
function isRenaming(code: readonly Token[], index: number): boolean {
  for (let at = index - 1; at >= 0; at -= 1) {
    const token = code[at];
    if (token?.text === "{") return /^(import|export|type|,)$/.test(code[at - 1]?.text ?? "");
    if (token?.kind !== "word" && token?.text !== ",") return false;
  }
  return false;
}

function isAny(code: readonly Token[], index: number): boolean {
  if (code[index]?.kind !== "word" || code[index]?.text !== "any") return false;
  return BEFORE_TYPE.has(code[index - 1]?.text ?? "") && !/^[(.:]$/.test(code[index + 1]?.text ?? "");
}

function isNonNull(code: readonly Token[], index: number): boolean {
  const token = code[index];
  const before = code[index - 1];
  if (token?.kind !== "punctuation" || token.text !== "!" || code[index + 1]?.text === "=") return false;
  if (before?.kind === "word") return !NOT_A_VALUE.has(before.text);
  return before?.text === ")" || before?.text === "]";
}

function isDeclaration(tokens: readonly Token[], index: number): boolean {
  if (tokens[index]?.kind !== "word" || tokens[index]?.text !== "export") return false;
  let next = index + 1;
  while (MODIFIERS.has(tokens[next]?.text ?? "")) next += 1;
  return DECLARATIONS.has(tokens[next]?.text ?? "") && !/^[{*]$/.test(tokens[next + 1]?.text ?? "");
}
