/** The smallest of some numbers: what a cost is when nothing else got in the way. */
export function lowest(values: readonly number[]): number {
  return quantile(values, 0);
}

/** The middle of some numbers. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The smallest of the numbers that at least this share of them does not exceed. Throws if there are none. */
export function quantile(values: readonly number[], share: number): number {
  const ordered = [...values].sort((left, right) => left - right);
  const found = ordered[Math.max(0, Math.ceil(share * ordered.length) - 1)];
  if (found === undefined) throw new Error("Nothing was measured, so there is no quantile of it.");
  return found;
}
