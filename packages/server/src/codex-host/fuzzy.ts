/** How well a path fits what was typed, and where in it the typed letters are. */
export interface FuzzyMatch {
  readonly score: number;
  readonly indices: readonly number[];
}

const AT_START = 12;
const IN_ROW = 8;
const FOUND = 4;
const PER_SKIPPED = 1;
const IN_NAME = 6;

/**
 * Whether all letters of a query come in a path, in their order and whatever their case. Letters at the beginning of a
 * word, in a row, or in the last name count for more. Undefined if one is missing.
 */
export function fuzzyMatch(query: string, path: string): FuzzyMatch | undefined {
  const wanted = query.toLowerCase().replaceAll(" ", "");
  const letters = path.toLowerCase();
  const nameAt = path.lastIndexOf("/") + 1;
  // Looked for from the end, the letters are found in the last name first; that is what people type.
  const indices: number[] = [];
  let from = letters.length - 1;
  for (const letter of [...wanted].reverse()) {
    const at = letters.lastIndexOf(letter, from);
    if (at === -1 || from < 0) return undefined;
    indices.unshift(at);
    from = at - 1;
  }
  return { score: scoreOf(path, indices, nameAt), indices };
}

function scoreOf(path: string, indices: readonly number[], nameAt: number): number {
  let score = 0;
  indices.forEach((at, place) => {
    const before = indices[place - 1];
    score += FOUND;
    if (isStart(path, at)) score += AT_START;
    if (before !== undefined && at === before + 1) score += IN_ROW;
    else if (before !== undefined) score -= Math.min(20, (at - before) * PER_SKIPPED);
    if (at >= nameAt) score += IN_NAME;
  });
  return Math.max(1, score);
}

function isStart(path: string, at: number): boolean {
  const before = path[at - 1];
  if (before === undefined || /[/_\-. ]/.test(before)) return true;
  const letter = path[at] ?? "";
  return /[a-z0-9]/.test(before) && /[A-Z]/.test(letter);
}
