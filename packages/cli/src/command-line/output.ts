import { visible } from "@flint/view";

/** Prints to stdout; the exit code is that of success. */
export function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

/** Prints what is wrong to stderr, and gives the exit code. */
export function complain(message: string, exitCode: number): number {
  process.stderr.write(`flint: ${visible(message)}\n`);
  return exitCode;
}

/** Prints a value as JSON. */
export function sayJson(value: unknown): number {
  return say(`${JSON.stringify(value, undefined, 2)}\n`);
}

/** Rows as aligned columns. What agents or files said in them is made safe, and the last column may be long. */
export function columns(rows: readonly (readonly string[])[]): string {
  const safe = rows.map((row) => row.map((cell) => visible(cell).replaceAll("\n", " ")));
  const widths = safe.reduce<number[]>(
    (known, row) => row.map((cell, place) => Math.max(known[place] ?? 0, cell.length)),
    [],
  );
  const lines = safe.map((row) =>
    row.map((cell, place) => (place === row.length - 1 ? cell : cell.padEnd(widths[place] ?? 0))).join("  "),
  );
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}
