/** The value if it is a list, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value if it is a string. */
export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The value if it is a finite number. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A text parsed as JSON; undefined if it is none. */
export function parsedJson(text: string): unknown {
  // Expected: any text.
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
