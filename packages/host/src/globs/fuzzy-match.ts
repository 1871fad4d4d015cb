/** The score of a path that matches a query, and the indices of the matched letters. */
export interface FuzzyMatch {
  /** At least 1; higher is better. */
  readonly score: number;
  readonly indices: readonly number[];
}

const POINTS = { match: 4, wordStart: 12, consecutive: 8, baseName: 6 };
const MAX_GAP_PENALTY = 20;

/**
 * Matches a query whose letters all occur in a path, in order and in any case; undefined if one does not. Letters at the
 * start of a word, consecutive ones, and those in the base name score higher.
 */
export function fuzzyMatch(query: string, path: string): FuzzyMatch | undefined {
  const letters = query.toLowerCase().replaceAll(" ", "");
  const lowerCase = path.toLowerCase();
  // Searched from the end, the base name is matched first, which is what users type.
  const indices: number[] = [];
  let from = lowerCase.length - 1;
  for (const letter of [...letters].reverse()) {
    const index = lowerCase.lastIndexOf(letter, from);
    if (index === -1 || from < 0) return undefined;
    indices.unshift(index);
    from = index - 1;
  }
  return { score: scoreOf(path, indices), indices };
}

function scoreOf(path: string, indices: readonly number[]): number {
  const baseName = path.lastIndexOf("/") + 1;
  let score = 0;
  let previous: number | undefined;
  for (const index of indices) {
    score += POINTS.match;
    if (isWordStart(path, index)) score += POINTS.wordStart;
    if (index >= baseName) score += POINTS.baseName;
    if (previous !== undefined) {
      const gap = index - previous;
      score += gap === 1 ? POINTS.consecutive : -Math.min(MAX_GAP_PENALTY, gap);
    }
    previous = index;
  }
  return Math.max(1, score);
}

function isWordStart(path: string, index: number): boolean {
  const before = path[index - 1];
  if (before === undefined || /[/_\-. ]/.test(before)) return true;
  return /[a-z0-9]/.test(before) && /[A-Z]/.test(path[index] ?? "");
}
