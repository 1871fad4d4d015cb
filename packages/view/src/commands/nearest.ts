/** The most similar known name; undefined if none is similar enough. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((name) => ({ name, distance: distance(given.toLowerCase(), name.toLowerCase()) }))
    .sort((left, right) => left.distance - right.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(1, Math.floor(given.length / 3))
    ? best.name
    : undefined;
}

/** The edit distance: letters changed, added, removed or swapped with their neighbour. */
function distance(left: string, right: string): number {
  let before: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let at = 1; at <= left.length; at += 1) {
    const next = [at];
    for (let index = 1; index <= right.length; index += 1) {
      const same = left[at - 1] === right[index - 1];
      const swapped =
        at > 1 && index > 1 && left[at - 1] === right[index - 2] && left[at - 2] === right[index - 1];
      next.push(
        Math.min(
          (row[index] ?? 0) + 1,
          (next[index - 1] ?? 0) + 1,
          (row[index - 1] ?? 0) + (same ? 0 : 1),
          swapped ? (before[index - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    before = row;
    row = next;
  }
  return row[right.length] ?? 0;
}
