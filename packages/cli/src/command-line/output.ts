import { escapeControls } from "@flint/view";

/** Prints to stdout. Returns the exit code for success. */
export function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

/** Prints a message to stderr. Returns the given exit code. */
export function complain(message: string, exitCode: number): number {
  process.stderr.write(`flint: ${escapeControls(message)}\n`);
  return exitCode;
}

/** Prints a value as JSON. */
export function sayJson(value: unknown): number {
  return say(`${JSON.stringify(value, undefined, 2)}\n`);
}

/** Formats rows as aligned columns, with control characters escaped. The last column may have any length. */
export function columns(rows: readonly (readonly string[])[]): string {
  const safe = rows.map((row) => row.map((cell) => escapeControls(cell).replaceAll("\n", " ")));
  const widths = safe.reduce<number[]>(
    (known, row) => row.map((cell, place) => Math.max(known[place] ?? 0, cell.length)),
    [],
  );
  const lines = safe.map((row) =>
    row.map((cell, place) => (place === row.length - 1 ? cell : cell.padEnd(widths[place] ?? 0))).join("  "),
  );
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}
