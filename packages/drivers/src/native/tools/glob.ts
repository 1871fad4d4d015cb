import { InputRefusal } from "./input.ts";

/** How many plain patterns the braces of one may stand for. */
const ALTERNATIVES = 64;

const LONGEST = 512;

/** What one place of a name may be: this character, any one, one of a set, or any number of any. */
type Token =
  | { readonly kind: "character"; readonly character: string }
  | { readonly kind: "one" }
  | { readonly kind: "many" }
  | {
      readonly kind: "set";
      readonly ranges: readonly (readonly [string, string])[];
      readonly negated: boolean;
    };

/** A folder or file name in a pattern; `**` stands for any number of folders. */
type Segment = { readonly kind: "folders" } | { readonly kind: "name"; readonly tokens: readonly Token[] };

/**
 * A pattern of paths with `*`, `**`, `?`, `[a-z]` and `{a,b}`. It takes no more time than the length of the pattern
 * times the length of the path, whatever it looks like, so it can come from anybody.
 */
export class Glob {
  readonly #alternatives: readonly (readonly Segment[])[];

  private constructor(alternatives: readonly (readonly Segment[])[]) {
    this.#alternatives = alternatives;
  }

  /** Reads a pattern. One without a slash is for names in any folder. Throws an InputRefusal if it is too large. */
  static of(pattern: string): Glob {
    if (pattern.length > LONGEST) throw new InputRefusal(`A pattern has at most ${LONGEST} characters.`);
    return new Glob(
      expandBraces(pattern).map((plain) => {
        const path = plain.replace(/^\.?\//, "");
        return path.includes("/") || plain.startsWith("/")
          ? path.split("/").map(segmentOf)
          : [{ kind: "folders" as const }, segmentOf(path)];
      }),
    );
  }

  /** Whether a path with slashes and without one at its beginning fits. */
  matches(path: string): boolean {
    const names = path.split("/");
    return this.#alternatives.some((segments) => fits(segments, names, isFolders, matchesName));
  }
}

function segmentOf(text: string): Segment {
  return text === "**" ? { kind: "folders" } : { kind: "name", tokens: tokensOf(text) };
}

function isFolders(segment: Segment): boolean {
  return segment.kind === "folders";
}

function matchesName(segment: Segment, name: string): boolean {
  if (segment.kind === "folders") return true;
  return fits(segment.tokens, [...name], (token) => token.kind === "many", matchesCharacter);
}

function matchesCharacter(token: Token, character: string): boolean {
  switch (token.kind) {
    case "character":
      return token.character === character;
    case "set":
      return token.ranges.some(([from, to]) => from <= character && character <= to) !== token.negated;
    case "one":
    case "many":
      return true;
  }
}

/** Matches with one step back at a time: only the latest star can be the one that took too little. */
function fits<Part, Piece>(
  parts: readonly Part[],
  pieces: readonly Piece[],
  isStar: (part: Part) => boolean,
  matches: (part: Part, piece: Piece) => boolean,
): boolean {
  let part = 0;
  let piece = 0;
  let star = -1;
  let taken = 0;
  while (piece < pieces.length) {
    const wanted = parts[part];
    const given = pieces[piece];
    if (wanted !== undefined && isStar(wanted)) {
      star = part;
      taken = piece;
      part += 1;
    } else if (wanted !== undefined && given !== undefined && matches(wanted, given)) {
      part += 1;
      piece += 1;
    } else if (star >= 0) {
      taken += 1;
      part = star + 1;
      piece = taken;
    } else return false;
  }
  return parts.slice(part).every(isStar);
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const characters = [...text];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? "";
    const end = character === "[" ? characters.indexOf("]", at + 2) : -1;
    if (end > 0) {
      tokens.push(setOf(characters.slice(at + 1, end)));
      at = end;
    } else if (character === "\\" && at + 1 < characters.length) {
      at += 1;
      tokens.push({ kind: "character", character: characters[at] ?? "" });
    } else if (character === "*") tokens.push({ kind: "many" });
    else if (character === "?") tokens.push({ kind: "one" });
    else tokens.push({ kind: "character", character });
  }
  return tokens;
}

function setOf(characters: readonly string[]): Token {
  const negated = characters[0] === "!" || characters[0] === "^";
  const rest = negated ? characters.slice(1) : characters;
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < rest.length; at += 1) {
    const from = rest[at] ?? "";
    const isRange = rest[at + 1] === "-" && at + 2 < rest.length;
    ranges.push([from, isRange ? (rest[at + 2] ?? from) : from]);
    if (isRange) at += 2;
  }
  return { kind: "set", ranges, negated };
}

/** All the plain patterns that one with braces stands for. */
function expandBraces(pattern: string): string[] {
  let done: string[] = [];
  let open = [pattern];
  while (open.length > 0) {
    if (open.length + done.length > ALTERNATIVES) {
      throw new InputRefusal(`The braces of a pattern stand for at most ${ALTERNATIVES} patterns.`);
    }
    const expanded = open.map(expandOnce);
    done = [...done, ...expanded.flatMap((each) => (each.length === 1 ? each : []))];
    open = expanded.flatMap((each) => (each.length === 1 ? [] : each));
  }
  return done;
}

/** Takes the first pair of braces that holds no other; the pattern alone if it has none. */
function expandOnce(pattern: string): string[] {
  const found = /\{([^{}]*,[^{}]*)\}/.exec(pattern);
  if (found === null) return [pattern];
  const before = pattern.slice(0, found.index);
  const after = pattern.slice(found.index + found[0].length);
  return (found[1] ?? "").split(",").map((alternative) => before + alternative + after);
}
