/** The unit of a number. An empty unit is a bare number. */
export type Unit = "ms" | "µs" | "MB" | "/s" | "";

/** The limit of a figure: on its ratio to the floor, or on its own value. Nothing is promised without one. */
export interface Target {
  readonly of: "ratio" | "value";
  readonly most: number;
}

/** One line of the table: a value, and what it is compared with in the same unit. */
export interface Row {
  readonly figure: string;
  readonly value: number;
  readonly unit: Unit;
  readonly floor?: { readonly name: string; readonly value: number };
  readonly target?: Target;
}

/** A figure that could not be measured, and why. */
export interface Missing {
  readonly figure: string;
  readonly reason: string;
}

/** Returns the ratio of the value to the floor; undefined without a floor. */
export function ratioOf({ value, floor }: Row): number | undefined {
  return floor === undefined ? undefined : value / floor.value;
}

/**
 * Reports whether a row keeps its target; undefined if it has none. A ratio target without a floor is a
 * mistake.
 */
export function keepsTarget(row: Row): boolean | undefined {
  if (row.target === undefined) return undefined;
  const judged = row.target.of === "value" ? row.value : ratioOf(row);
  if (judged === undefined) throw new Error(`The figure "${row.figure}" has a ratio target but no floor.`);
  return judged <= row.target.most;
}
