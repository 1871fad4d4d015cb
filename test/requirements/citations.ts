import { codeTokens, type Token } from "../source/tokens.ts";

/** The ids that the tests of one file claim to prove. */
export type FileCitations = {
  /** Requirement and safety ids, ranges spelt out, in order of appearance; also ids that do not exist. */
  ids: string[];
  /** Ids in the title of a group of tests, which prove nothing: the tests in it have to name what they prove. */
  ofGroups: string[];
  /** Lines of tests that are switched off or keep others from running. */
  switchedOff: number[];
  /** Lines of tests whose body is empty. */
  empty: number[];
};

// What `needs` gives is a `test`.
const TITLED = new Set(["test", "it", "describe", "needs", "describeEachMechanism"]);
const SWITCHES = new Set(["skip", "only", "todo", "fails"]);
const BRACKETS = /\[([^[\]]*)\]/g;
const CITATION = /^[SP]\d[\w.-]*$/;
const RANGE = /^(S\d+-|P)(\d+)\.\.(?:S\d+-|P)?(\d+)$/;

/**
 * Reads the citations of a test file. They count in the titles of test, it, needs, what is named after needs, and verifies,
 * and in the ids given to verifies; a comment or any other string proves nothing.
 */
export function citationsIn(source: string): FileCitations {
  const tokens = codeTokens(source);
  const titled = new Set([...TITLED, ...namesOfNeeds(tokens)]);
  const citations: FileCitations = { ids: [], ofGroups: [], switchedOff: [], empty: [] };
  tokens.forEach((token, index) => {
    if (token.kind !== "word" || tokens[index - 1]?.text === ".") return;
    if (titled.has(token.text)) readTitledCall(tokens, index, citations);
    else if (token.text === "verifies") readVerifies(tokens, index, citations);
  });
  return citations;
}

/** The ids that a title names in brackets, ranges spelt out. */
export function idsInTitle(title: string): string[] {
  return [...title.matchAll(BRACKETS)].flatMap(([, list = ""]) => parseList(list));
}

/** Reads the ids of a torture file, where each case is an object that names itself: `id: "P07"`. */
export function caseIdsIn(source: string): string[] {
  const tokens = codeTokens(source);
  return tokens
    .filter(
      (token, index) =>
        token.kind === "string" && tokens[index - 1]?.text === ":" && tokens[index - 2]?.text === "id",
    )
    .flatMap((token) => parseList(token.text));
}

/** The names that a file gives to what needs a part of the machine: `const real = needs("codex")`. */
function namesOfNeeds(tokens: readonly Token[]): string[] {
  return tokens.flatMap(({ text }, index) => {
    const name = tokens[index - 2];
    const isNamed = text === "needs" && tokens[index - 1]?.text === "=" && name?.kind === "word";
    return isNamed ? [name.text] : [];
  });
}

function readTitledCall(tokens: readonly Token[], start: number, citations: FileCitations): void {
  let index = start + 1;
  for (; tokens[index]?.text === "."; index += 2) {
    if (SWITCHES.has(tokens[index + 1]?.text ?? "")) citations.switchedOff.push(tokens[start]?.line ?? 0);
  }
  const ids = tokens[start]?.text.startsWith("describe") ? citations.ofGroups : citations.ids;
  // `test.each(table)("title", body)` has two lists of arguments; the title may be in either.
  while (isOpening(tokens[index])) {
    const call = readCall(tokens, index);
    ids.push(...bracketed(call.arguments[0] ?? []));
    if (call.arguments.some(isEmptyBody)) citations.empty.push(tokens[start]?.line ?? 0);
    index = call.end + 1;
  }
}

function readVerifies(tokens: readonly Token[], start: number, citations: FileCitations): void {
  if (!isOpening(tokens[start + 1])) return;
  const [ids = [], title = [], body = []] = readCall(tokens, start + 1).arguments;
  citations.ids.push(...ids.filter(isText).flatMap((token) => parseList(token.text)), ...bracketed(title));
  if (isEmptyBody(body)) citations.empty.push(tokens[start]?.line ?? 0);
}

/** `() => {}`, whatever it takes and whether it is asynchronous. */
function isEmptyBody(argument: readonly Token[]): boolean {
  const [arrow, opening, closing] = argument.slice(-3).map((token) => token.text);
  return arrow?.endsWith(">") === true && opening === "{" && closing === "}";
}

/** The arguments of the call whose opening bracket is at `start`, and where it closes. */
function readCall(tokens: readonly Token[], start: number): { arguments: Token[][]; end: number } {
  const found: Token[][] = [[]];
  let depth = 0;
  for (let index = start; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token === undefined) break;
    const text = token.kind === "punctuation" ? token.text : "";
    if (/[([{]/.test(text)) depth += 1;
    if (/[)\]}]/.test(text)) depth -= 1;
    if (depth === 0) return { arguments: found, end: index };
    if (depth === 1 && text === ",") found.push([]);
    else found.at(-1)?.push(token);
  }
  return { arguments: found, end: tokens.length };
}

function bracketed(argument: readonly Token[]): string[] {
  return argument.filter(isText).flatMap((token) => idsInTitle(token.text));
}

function parseList(list: string): string[] {
  const parts = list.split(",").map((part) => part.trim());
  return parts.filter((part) => CITATION.test(part)).flatMap(expandRange);
}

/** `S0-13..16` is four ids; what is not a range stays as it is, so that a slip is reported as unknown. */
function expandRange(part: string): string[] {
  const [, prefix, first, last] = RANGE.exec(part) ?? [];
  if (prefix === undefined || first === undefined || last === undefined) return [part];
  const length = Number(last) - Number(first) + 1;
  if (length < 1 || length > 200) return [part];
  const width = prefix === "P" ? first.length : 0;
  return Array.from({ length }, (_, step) => `${prefix}${String(Number(first) + step).padStart(width, "0")}`);
}

function isText(token: Token): boolean {
  return token.kind === "string" || token.kind === "template";
}

function isOpening(token: Token | undefined): boolean {
  return token?.kind === "punctuation" && token.text === "(";
}
