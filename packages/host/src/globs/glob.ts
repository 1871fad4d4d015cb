const MAX_LENGTH = 512;

/** The number of patterns that one with braces may expand to. */
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

  /** Reports whether a path without a leading slash matches. */
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

/** One token of a name pattern: any number of characters, any single one, this one, or one of a set. */
type Token =
  | { readonly kind: "star" }
  | { readonly kind: "any" }
  | { readonly kind: "literal"; readonly character: string }
  | {
      readonly kind: "set";
      readonly ranges: readonly (readonly [from: number, to: number])[];
      readonly negated: boolean;
    };

/** A leading surrogate; a lone one counts as a character. */
const HIGH_SURROGATE = /[\uD800-\uDBFF]/;

/**
 * A pattern for a single name, with the syntax of shells and git: `*`, `?`, `[a-z]`, `[!a]`, and `\` before a literal
 * character. An unclosed `[` is literal too. Matching takes at most the length of the pattern times that of the name.
 */
export class NamePattern {
  readonly #tokens: readonly Token[];
  /** Most patterns are a plain name or `*.suffix`, which is compared as a string. */
  readonly #startsWithStar: boolean;
  readonly #suffix: string | undefined;

  private constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
    this.#startsWithStar = tokens[0]?.kind === "star";
    const tail = this.#startsWithStar ? tokens.slice(1) : tokens;
    const literals = tail.flatMap((token) => (token.kind === "literal" ? [token.character] : []));
    this.#suffix = literals.length === tail.length ? literals.join("") : undefined;
  }

  /** Parses a pattern; every string is a valid one. */
  static parse(source: string): NamePattern {
    return new NamePattern(tokenize([...source]));
  }

  /** Reports whether a name matches. */
  matches(name: string): boolean {
    if (this.#suffix !== undefined)
      return this.#startsWithStar ? name.endsWith(this.#suffix) : name === this.#suffix;
    const characters = HIGH_SURROGATE.test(name) ? [...name] : name;
    return matchesWithStars(this.#tokens, characters, isStar, matchesCharacter);
  }
}

const ANY_FOLDERS = "**";

type Segment = NamePattern | typeof ANY_FOLDERS;

/**
 * A pattern for whole paths: one name pattern per segment. `**` as a segment stands for any number of folders; at the
 * end it stands for everything below a folder, but not for the folder itself.
 */
export class PathPattern {
  readonly #segments: readonly Segment[];

  private constructor(segments: readonly Segment[]) {
    this.#segments = segments;
  }

  /** Parses a pattern without a leading slash; every string is a valid one. */
  static parse(source: string): PathPattern {
    const names = source.split("/");
    if (names.at(-1) === ANY_FOLDERS) names.push("*");
    return new PathPattern(names.map((name) => (name === ANY_FOLDERS ? name : NamePattern.parse(name))));
  }

  /** Reports whether the names of a path match, outermost first. */
  matches(names: readonly string[]): boolean {
    return matchesWithStars(this.#segments, names, isAnyFolders, matchesName);
  }
}

/**
 * Reports whether a list matches a pattern in which some parts stand for any number of elements. Only the
 * latest of those is ever retried, which is sufficient and keeps hostile patterns from taking exponential
 * time.
 */
function matchesWithStars<Part, Element>(
  pattern: readonly Part[],
  list: ArrayLike<Element>,
  isStarPart: (part: Part) => boolean,
  matchesOne: (part: Part, element: Element) => boolean,
): boolean {
  let at = 0;
  let index = 0;
  let star = -1;
  let retry = 0;
  while (index < list.length) {
    const part = pattern[at];
    // The loop stays within the list.
    const element = list[index] as Element;
    if (part !== undefined && isStarPart(part)) {
      star = at;
      retry = index;
      at += 1;
    } else if (part !== undefined && matchesOne(part, element)) {
      at += 1;
      index += 1;
    } else if (star !== -1) {
      at = star + 1;
      retry += 1;
      index = retry;
    } else return false;
  }
  return pattern.slice(at).every(isStarPart);
}

function isAnyFolders(segment: Segment): boolean {
  return segment === ANY_FOLDERS;
}

function matchesName(segment: Segment, name: string): boolean {
  return segment === ANY_FOLDERS || segment.matches(name);
}

function isStar({ kind }: Token): boolean {
  return kind === "star";
}

function matchesCharacter(token: Token, character: string): boolean {
  switch (token.kind) {
    case "star":
    case "any":
      return true;
    case "literal":
      return token.character === character;
    case "set": {
      const code = codePointOf(character);
      return token.ranges.some(([from, to]) => from <= code && code <= to) !== token.negated;
    }
  }
}

function tokenize(characters: readonly string[]): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? "";
    const set = character === "[" ? parseSet(characters, at) : undefined;
    if (set !== undefined) {
      tokens.push(set.token);
      at = set.end;
    } else if (character === "*") tokens.push({ kind: "star" });
    else if (character === "?") tokens.push({ kind: "any" });
    else if (character === "\\" && at + 1 < characters.length) {
      at += 1;
      tokens.push({ kind: "literal", character: characters[at] ?? "" });
    } else tokens.push({ kind: "literal", character });
  }
  return tokens;
}

/** The set that starts at an index, and the index of its `]`; undefined if it is not closed. */
function parseSet(characters: readonly string[], start: number): { token: Token; end: number } | undefined {
  const negated = characters[start + 1] === "!" || characters[start + 1] === "^";
  const ranges: [number, number][] = [];
  const first = start + (negated ? 2 : 1);
  for (let at = first; at < characters.length; at += 1) {
    if (characters[at] === "]" && at > first) return { token: { kind: "set", ranges, negated }, end: at };
    if (characters[at] === "\\") at += 1;
    const from = codePointOf(characters[at]);
    const isRange = characters[at + 1] === "-" && at + 2 < characters.length && characters[at + 2] !== "]";
    if (isRange) at += characters[at + 2] === "\\" ? 3 : 2;
    ranges.push([from, isRange ? codePointOf(characters[at]) : from]);
  }
  return undefined;
}

function codePointOf(character: string | undefined): number {
  return character?.codePointAt(0) ?? 0;
}
