import { PathPattern } from "./path-pattern.ts";

const LONGEST = 512;

/** How many patterns the braces of one may stand for. */
const MOST_ALTERNATIVES = 64;

/**
 * A pattern of paths. Letter case counts, and a name that begins with a dot is a name like any other. It takes no more
 * time than the length of the pattern times the length of the path, whatever it looks like, so it can come from anybody.
 */
export class Glob {
  readonly #alternatives: readonly PathPattern[];

  private constructor(alternatives: readonly PathPattern[]) {
    this.#alternatives = alternatives;
  }

  /** Reads a pattern in which only `*`, `?` and `**` mean something. It is for whole paths; every text is one. */
  static plain(pattern: string): Glob {
    return new Glob([PathPattern.of(pattern.replace(/[[\\]/g, "\\$&"))]);
  }

  /**
   * Reads a pattern as people write it to find files: with `[a-z]`, `{a,b}` and `\` too. One without a slash is for
   * names in any folder. Throws a RangeError that says so if it is too large.
   */
  static search(pattern: string): Glob {
    if (pattern.length > LONGEST) throw new RangeError(`A pattern has at most ${LONGEST} characters.`);
    return new Glob(expandBraces(pattern).map(searchPattern));
  }

  /** Whether a path with slashes and without one at its beginning fits. */
  matches(path: string): boolean {
    const names = path.split("/");
    return this.#alternatives.some((alternative) => alternative.fits(names));
  }
}

function searchPattern(plain: string): PathPattern {
  const path = plain.replace(/^\.?\//, "");
  const isPlaced = path.includes("/") || plain.startsWith("/");
  return PathPattern.of(isPlaced ? path : `**/${path}`);
}

/** All the patterns without braces that one with braces stands for. */
function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const expanded = expandOnce(next);
    if (expanded === undefined) done.push(next);
    else open.push(...expanded.reverse());
    if (open.length + done.length <= MOST_ALTERNATIVES) continue;
    throw new RangeError(`The braces of a pattern stand for at most ${MOST_ALTERNATIVES} patterns.`);
  }
  return done;
}

/** Takes the first pair of braces that holds a comma and no other pair; undefined if there is none. */
function expandOnce(pattern: string): string[] | undefined {
  let open = -1;
  for (let at = 0; at < pattern.length; at += 1) {
    const sign = pattern[at];
    if (sign === "\\") at += 1;
    else if (sign === "{") open = at;
    else if (sign === "}" && open !== -1) {
      const alternatives = pattern.slice(open + 1, at).split(",");
      const [before, after] = [pattern.slice(0, open), pattern.slice(at + 1)];
      if (alternatives.length > 1) return alternatives.map((each) => before + each + after);
      open = -1;
    }
  }
  return undefined;
}
