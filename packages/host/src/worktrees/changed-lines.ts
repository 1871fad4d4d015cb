/** The lines that a change added or replaced, by file. */
export type ChangedLines = ReadonlyMap<string, readonly (readonly [first: number, last: number])[]>;

/** Reads a diff that was made without context lines. */
export function changedLines(diff: string): ChangedLines {
  const files = new Map<string, (readonly [number, number])[]>();
  let ranges: (readonly [number, number])[] = [];
  for (const line of diff.split("\n")) {
    const file = /^\+\+\+ (?:"?b\/(.*?)"?|\/dev\/null)$/.exec(line);
    if (file !== null) {
      ranges = [];
      if (file[1] !== undefined) files.set(file[1], ranges);
      continue;
    }
    const hunk = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk === null) continue;
    const first = Number(hunk[1]);
    const count = hunk[2] === undefined ? 1 : Number(hunk[2]);
    // A removal counts as a change of the lines around it.
    ranges.push(count === 0 ? [first, first + 1] : [first, first + count - 1]);
  }
  return files;
}

/** Reports whether a position is part of a change. A position without a line is its whole file. */
export function isChanged(lines: ChangedLines, file: string | undefined, line: number | undefined): boolean {
  if (file === undefined) return false;
  const ranges = lines.get(file.replace(/^\.\//, ""));
  if (ranges === undefined) return false;
  return line === undefined || ranges.some(([first, last]) => line >= first && line <= last);
}
