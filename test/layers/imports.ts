import { codeTokens, type Token } from "../source/tokens.ts";

/** One import or re-export, or a dynamic import whose target is only known at run time. */
export type Import = { specifier: string | "(computed)"; typeOnly: boolean; line: number };

/** The text of a module as the layer rules need it. */
export type ModuleText = {
  imports: Import[];
  /** Relative paths named in any string, as a program does that starts another file. */
  mentions: string[];
  /** Lines that read the environment. */
  environment: number[];
  /** Lines that read the time or set a timer themselves, not through an injected clock. */
  clock: number[];
};

/** Reads every import, static and dynamic, value and type, and every use of the environment and of the time. */
export function readModule(source: string): ModuleText {
  const tokens = codeTokens(source);
  const imports = tokens.flatMap((_, index) => importAt(tokens, index) ?? []);
  const mentions = tokens.filter((token) => token.kind === "string" && /^\.\.?\//.test(token.text));
  const environment = tokens.filter((_, index) => readsEnvironment(tokens, index));
  return {
    imports,
    mentions: mentions.map(({ text }) => text),
    environment: environment.map(({ line }) => line),
    clock: tokens.filter((_, index) => readsClock(tokens, index)).map(({ line }) => line),
  };
}

function importAt(tokens: readonly Token[], index: number): Import | undefined {
  const token = tokens[index];
  if (token?.kind !== "word" || tokens[index - 1]?.text === ".") return undefined;
  const next = tokens[index + 1];
  if (token.text === "import" && next?.text === "(" && next.kind === "punctuation")
    return dynamic(tokens, index);
  if (token.text === "require" && next?.text === "(" && next.kind === "punctuation")
    return dynamic(tokens, index);
  if (token.text === "import" && next?.kind === "string") return imported(next, false);
  if (token.text === "import" && next?.kind === "word") return clause(tokens, index);
  if (token.text === "import" && /^[{*]$/.test(next?.text ?? "")) return clause(tokens, index);
  if (token.text === "export" && isReexport(tokens, index)) return clause(tokens, index);
  return undefined;
}

function isReexport(tokens: readonly Token[], index: number): boolean {
  const first = tokens[index + 1];
  const start = first?.text === "type" ? tokens[index + 2] : first;
  return start?.kind === "punctuation" && /^[{*]$/.test(start.text);
}

/** Reads `import type { A } from "x"` and its relatives up to the specifier; a local export has none. */
function clause(tokens: readonly Token[], start: number): Import | undefined {
  const typeOnly = tokens[start + 1]?.text === "type" && tokens[start + 2]?.text !== "from";
  for (let index = start + 1; index < tokens.length; index += 1) {
    const token = tokens[index];
    const next = tokens[index + 1];
    if (token?.text === "from" && next?.kind === "string") return imported(next, typeOnly);
    if (token === undefined || !isClausePart(token)) return undefined;
  }
  return undefined;
}

function isClausePart(token: Token): boolean {
  return token.kind === "word" || (token.kind === "punctuation" && /^[{},*]$/.test(token.text));
}

function dynamic(tokens: readonly Token[], start: number): Import {
  const target = tokens[start + 2];
  const closing = tokens[start + 3]?.text;
  if (target?.kind === "string" && (closing === ")" || closing === ",")) return imported(target, false);
  return { specifier: "(computed)", typeOnly: false, line: tokens[start]?.line ?? 0 };
}

function imported(specifier: Token, typeOnly: boolean): Import {
  return { specifier: specifier.text, typeOnly, line: specifier.line };
}

/** True at the word `env` of `process.env`, `process?.env`, `process["env"]` and `import { env } from "node:process"`. */
function readsEnvironment(tokens: readonly Token[], index: number): boolean {
  if (tokens[index]?.text !== "env") return false;
  const before = tokens.slice(Math.max(0, index - 3), index).map((token) => token.text);
  if (/(^| )process( \?)?( \.| \[)$/.test(before.join(" "))) return true;
  const list = tokens.slice(index, index + 40);
  const from = list.findIndex((token) => token.text === "from");
  return (
    from !== -1 &&
    list.slice(0, from).every(isClausePart) &&
    /^(node:)?process$/.test(list[from + 1]?.text ?? "")
  );
}

/** True at `now` of `Date.now()` and `performance.now()`, at `Date` of `new Date()`, and at a timer that is set. */
function readsClock(tokens: readonly Token[], index: number): boolean {
  const [owner, before, token, next, after] = [-2, -1, 0, 1, 2].map((offset) => tokens[index + offset]?.text);
  if (tokens[index]?.kind !== "word" || next !== "(") return false;
  if (token === "now") return before === "." && (owner === "Date" || owner === "performance");
  if (token === "Date") return before === "new" && after === ")";
  return before !== "." && (token === "setTimeout" || token === "setInterval");
}
