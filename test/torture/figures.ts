import type { Figure, Measurements } from "./case.ts";

/**
 * In a short run the machine is shared and busy: everything takes longer, also the collection of garbage. So many
 * times above its line a figure may be there.
 */
const SHORT_SLACK = { ms: 4, MB: 1.5, "": 1 } as const;

/** A count of things that went wrong: nothing above 0 is right. */
export function none(name: string, value: number): Figure {
  return { name, value, unit: "", line: 0 };
}

/** A count of things, for the reader. */
export function count(name: string, value: number): Figure {
  return { name, value, unit: "" };
}

/** A time, and how long it may be. */
export function milliseconds(name: string, value: number, line?: number): Figure {
  return { name, value, unit: "ms", ...(line === undefined ? {} : { line }) };
}

/** An amount of memory, and how much it may be. */
export function megabytes(name: string, value: number, line?: number): Figure {
  return { name, value, unit: "MB", ...(line === undefined ? {} : { line }) };
}

/** The value below which this share of the values lie. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

/** The figures that broke their promise, as sentences. */
export function brokenPromises(figures: Measurements, short: boolean): string[] {
  return figures.flatMap((figure) => {
    const { line, unit } = figure;
    if (line === undefined) return [];
    const limit = short ? line * SHORT_SLACK[unit] : line;
    return figure.value <= limit ? [] : [`${describeFigure(figure)} is above ${limit}`];
  });
}

/** A figure for the reader: its value, and the line it must not be above. */
export function describeFigure({ name, value, unit, line }: Figure): string {
  const shown = Number.isInteger(value) || Math.abs(value) >= 10 ? Math.round(value) : value.toFixed(1);
  const promise = line === undefined || (line === 0 && value === 0) ? "" : ` (<=${line})`;
  return `${name} ${shown}${unit === "" ? "" : ` ${unit}`}${promise}`;
}
