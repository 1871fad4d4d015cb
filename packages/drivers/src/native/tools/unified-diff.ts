const CONTEXT_LINES = 3;
const NO_NEWLINE = "\\ No newline at end of file";

/**
 * The difference between two texts of one file as a unified diff with one hunk, which starts and ends where the texts
 * do. `before` is undefined for a file that does not exist. Empty if nothing changes.
 */
export function unifiedDiff(path: string, before: string | undefined, after: string): string {
  if (before === after) return "";
  const header = [before === undefined ? "--- /dev/null" : `--- a/${path}`, `+++ b/${path}`];
  return `${[...header, ...hunk(linesOf(before ?? ""), linesOf(after))].join("\n")}\n`;
}

/** Lines with their line ends, so that a last line without one differs from the same line with one. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function hunk(before: readonly string[], after: readonly string[]): string[] {
  if (before.length === 0 && after.length === 0) return [];
  const same = commonStart(before, after);
  const sameEnd = commonStart(before.slice(same).toReversed(), after.slice(same).toReversed());
  const start = Math.max(0, same - CONTEXT_LINES);
  const trailing = Math.min(sameEnd, CONTEXT_LINES);
  const oldEnd = before.length - sameEnd;
  const newEnd = after.length - sameEnd;
  return [
    `@@ -${range(start, oldEnd + trailing)} +${range(start, newEnd + trailing)} @@`,
    ...marked(" ", before.slice(start, same)),
    ...marked("-", before.slice(same, oldEnd)),
    ...marked("+", after.slice(same, newEnd)),
    ...marked(" ", before.slice(oldEnd, oldEnd + trailing)),
  ];
}

function commonStart(left: readonly string[], right: readonly string[]): number {
  const differs = left.findIndex((line, index) => line !== right[index]);
  return differs === -1 ? left.length : differs;
}

/** Lines are counted from one; an empty range names the line before it. */
function range(start: number, end: number): string {
  const length = end - start;
  return `${length === 0 ? start : start + 1},${length}`;
}

function marked(sign: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) =>
    line.endsWith("\n") ? [`${sign}${line.slice(0, -1)}`] : [`${sign}${line}`, NO_NEWLINE],
  );
}
