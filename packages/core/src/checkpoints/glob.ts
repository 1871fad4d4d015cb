/** One sign of a pattern for a name. */
type Token =
  | { readonly kind: "star" }
  | { readonly kind: "any" }
  | { readonly kind: "sign"; readonly sign: string }
  | {
      readonly kind: "class";
      readonly ranges: readonly (readonly [string, string])[];
      readonly not: boolean;
    };

/** A pattern for one name, as shells and git write them: `*`, `?`, `[a-z]`, `\` before a sign that means itself. */
export type NamePattern = readonly Token[];

/** Reads a pattern. A `[` without an end means itself. */
export function namePattern(text: string): NamePattern {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; ) {
    const sign = text[at] ?? "";
    const set = sign === "[" ? readClass(text, at) : undefined;
    if (set !== undefined) tokens.push(set.token);
    else if (sign === "*") tokens.push({ kind: "star" });
    else if (sign === "?") tokens.push({ kind: "any" });
    else if (sign === "\\" && at + 1 < text.length) tokens.push({ kind: "sign", sign: text[at + 1] ?? "" });
    else tokens.push({ kind: "sign", sign });
    at = set?.end ?? at + (sign === "\\" && at + 1 < text.length ? 2 : 1);
  }
  return tokens;
}

/** Whether a name fits. */
export function matchesName(pattern: NamePattern, name: string): boolean {
  return matchesList(
    pattern,
    name,
    (token) => token.kind === "star",
    (token, sign) => fits(token, sign),
  );
}

/**
 * Whether a list fits a pattern in which some parts stand for any number of elements. Only the latest of those is ever
 * tried again, which is enough, so a pattern that somebody made to be slow is not.
 */
export function matchesList<Part, Element>(
  pattern: readonly Part[],
  list: ArrayLike<Element>,
  isStar: (part: Part) => boolean,
  fitsOne: (part: Part, element: Element) => boolean,
): boolean {
  let at = 0;
  let place = 0;
  let star = -1;
  let retry = 0;
  while (place < list.length) {
    const part = pattern[at];
    // The loop stays within the list.
    const element = list[place] as Element;
    if (part !== undefined && isStar(part)) {
      star = at;
      retry = place;
      at += 1;
    } else if (part !== undefined && fitsOne(part, element)) {
      at += 1;
      place += 1;
    } else if (star !== -1) {
      at = star + 1;
      retry += 1;
      place = retry;
    } else return false;
  }
  return pattern.slice(at).every(isStar);
}

function fits(token: Token, sign: string): boolean {
  switch (token.kind) {
    case "star":
      return false;
    case "any":
      return true;
    case "sign":
      return token.sign === sign;
    case "class":
      return token.ranges.some(([from, to]) => from <= sign && sign <= to) !== token.not;
  }
}

function readClass(text: string, start: number): { token: Token; end: number } | undefined {
  let at = start + 1;
  const not = text[at] === "!" || text[at] === "^";
  if (not) at += 1;
  const ranges: [string, string][] = [];
  for (let first = true; at < text.length; first = false) {
    if (text[at] === "]" && !first) return { token: { kind: "class", ranges, not }, end: at + 1 };
    if (text[at] === "\\") at += 1;
    const from = text[at] ?? "";
    const isRange = text[at + 1] === "-" && at + 2 < text.length && text[at + 2] !== "]";
    const to = isRange ? (text[at + 2] ?? "") : from;
    ranges.push([from, to]);
    at += isRange ? 3 : 1;
  }
  return undefined;
}
