import { PathPattern } from "./pattern.ts";

const MAX_LENGTH = 512;

/** How many patterns one with braces may expand to. */
const MAX_ALTERNATIVES = 64;

/**
 * A glob pattern for paths. It is case-sensitive, and names that begin with a dot are not special. Matching takes at most
 * the length of the pattern times that of the path, so a pattern from an untrusted source is safe.
 */
export class Glob {
  readonly #alternatives: readonly PathPattern[];

  private constructor(alternatives: readonly PathPattern[]) {
    this.#alternatives = alternatives;
  }

  /** Parses a pattern for whole paths in which only `*`, `?` and `**` are special; every string is a valid one. */
  static plain(pattern: string): Glob {
    return new Glob([PathPattern.parse(pattern.replace(/[[\\]/g, "\\$&"))]);
  }

  /**
   * Parses a pattern of a file search, with `[a-z]`, `{a,b}` and `\` as well. One without a slash matches names in any
   * folder. Throws a RangeError if it is too large.
   */
  static search(pattern: string): Glob {
    if (pattern.length > MAX_LENGTH) throw new RangeError(`A pattern has at most ${MAX_LENGTH} characters.`);
    return new Glob(expandBraces(pattern).map(searchPattern));
  }

  /** Whether a path without a leading slash matches. */
  matches(path: string): boolean {
    const names = path.split("/");
    return this.#alternatives.some((alternative) => alternative.matches(names));
  }
}

function searchPattern(plain: string): PathPattern {
  const path = plain.replace(/^\.?\//, "");
  const isAnchored = path.includes("/") || plain.startsWith("/");
  return PathPattern.parse(isAnchored ? path : `**/${path}`);
}

/** All patterns without braces that one with braces expands to. */
function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const expanded = expandOnce(next);
    if (expanded === undefined) done.push(next);
    else open.push(...expanded.reverse());
    if (open.length + done.length <= MAX_ALTERNATIVES) continue;
    throw new RangeError(`The braces of a pattern stand for at most ${MAX_ALTERNATIVES} patterns.`);
  }
  return done;
}

/** Expands the first pair of braces that contains a comma and no other pair; undefined if there is none. */
function expandOnce(pattern: string): string[] | undefined {
  let open = -1;
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === "\\") at += 1;
    else if (character === "{") open = at;
    else if (character === "}" && open !== -1) {
      const alternatives = pattern.slice(open + 1, at).split(",");
      const [before, after] = [pattern.slice(0, open), pattern.slice(at + 1)];
      if (alternatives.length > 1) return alternatives.map((each) => before + each + after);
      open = -1;
    }
  }
  return undefined;
}
