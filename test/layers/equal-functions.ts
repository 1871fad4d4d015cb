import { tokenize } from "../source/tokens.ts";

/** A function that stands in several files: its name, and where. */
export interface EqualFunctions {
  readonly name: string;
  readonly paths: readonly string[];
}

/** Shorter bodies say too little to be one fact: `return a + b;` may be right in two places. */
const MIN_BODY = 40;

/** `function name(` or `export async function name<T>(`, at the beginning of a line. */
const DECLARATION = /^(?:export )?(?:async )?function\*? (\w+)[\s\S]*?\n\}/gm;

/** The functions that several files declare with the same parameters and body, whatever they are called. */
export function equalFunctions(sources: ReadonlyMap<string, string>): EqualFunctions[] {
  const found = new Map<string, { name: string; paths: Set<string> }>();
  for (const [path, source] of sources) {
    for (const [whole, name = ""] of source.matchAll(DECLARATION)) {
      const body = normalized(whole, name);
      if (body.length < MIN_BODY) continue;
      const entry = found.get(body) ?? { name, paths: new Set() };
      entry.paths.add(path);
      found.set(body, entry);
    }
  }
  return [...found.values()]
    .filter(({ paths }) => paths.size > 1)
    .map(({ name, paths }) => ({ name, paths: [...paths].sort() }));
}

/** A function without its name, comments and white space, from its parameters on. */
function normalized(whole: string, name: string): string {
  const code = tokenize(whole).filter(({ kind }) => kind !== "comment");
  const at = code.findIndex(({ text }) => text === name);
  return code
    .slice(at + 1)
    .map(({ kind, text }) => (kind === "string" || kind === "template" ? JSON.stringify(text) : text))
    .join(" ");
}
