import { fields } from "./server-under-test.ts";

/**
 * Returns the differences of two answers in their fields or in the kinds of their values. The values
 * themselves do not count.
 */
export function shapeDifferences(theirs: unknown, ours: unknown, path = ""): string[] {
  const [their, our] = [kindOf(theirs), kindOf(ours)];
  if (their !== our) return [`${path}: ${their} there, ${our} here`];
  if (Array.isArray(theirs) && Array.isArray(ours)) {
    const [first, second] = [theirs[0], ours[0]];
    if (first === undefined || second === undefined) return [];
    return shapeDifferences(first, second, `${path}[]`);
  }
  if (their !== "object") return [];
  const [left, right] = [fields(theirs), fields(ours)];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((name) =>
    shapeDifferences(left[name], right[name], `${path}.${name}`),
  );
}

function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}
