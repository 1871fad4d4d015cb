/**
 * Whether a path fits a pattern, piece by piece: `*` and `?` stand for signs within one name, `**` for any number of
 * folders. Both are relative and use `/`. A name that begins with a dot is a name like any other.
 */
export function fitsGlob(pattern: string, path: string): boolean {
  return fits(pattern.split("/"), path.split("/"));
}

/** Follows all places where the names could have come to at once, so that no pattern takes long. */
function fits(patterns: readonly string[], names: readonly string[]): boolean {
  let places: readonly number[] = [0];
  for (const [index, pattern] of patterns.entries()) {
    const [first] = places;
    if (first === undefined) return false;
    // At the end it stands for at least one name: `src/**` is what is in src, not src itself.
    if (pattern === "**" && index === patterns.length - 1) return first < names.length;
    if (pattern === "**") places = names.flatMap((_, at) => (at >= first ? [at] : []));
    else places = places.flatMap((at) => (fitsName(pattern, names[at]) ? [at + 1] : []));
  }
  return places.includes(names.length);
}

/** Walks along the name and goes back to the latest `*` when something does not fit: never longer than their product. */
function fitsName(pattern: string, name: string | undefined): boolean {
  if (name === undefined) return false;
  let star = -1;
  let resume = 0;
  let place = 0;
  let at = 0;
  while (at < name.length) {
    if (pattern[place] === "*") {
      star = place;
      resume = at;
      place += 1;
    } else if (pattern[place] === "?" || (place < pattern.length && pattern[place] === name[at])) {
      place += 1;
      at += 1;
    } else if (star !== -1) {
      place = star + 1;
      resume += 1;
      at = resume;
    } else {
      return false;
    }
  }
  while (pattern[place] === "*") place += 1;
  return place === pattern.length;
}
