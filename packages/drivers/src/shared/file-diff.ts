const CONTEXT_LINES = 3;
/** How long to look for the shortest difference before a plain one will do. */
const SEARCH_MS = 200;
const NO_NEWLINE = "\\ No newline at end of file";

/** A file before and after; undefined where it does not exist. */
export interface TextChange {
  /** As it stands in the head of the diff. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Makes the exact unified diff of a change. */
export type FileDiff = (change: TextChange) => string;

/** What makes diffs, loaded when it is first needed. After `searchMs` a longer diff than the shortest will do. */
export async function loadFileDiff(searchMs: number = SEARCH_MS): Promise<FileDiff> {
  const { structuredPatch } = await import("diff");
  return ({ path, before, after }) => {
    if (before === after) return "";
    const head = [
      before === undefined ? "--- /dev/null" : `--- a/${path}`,
      after === undefined ? "+++ /dev/null" : `+++ b/${path}`,
    ];
    const options = { context: CONTEXT_LINES, timeout: searchMs };
    const found = structuredPatch("", "", before ?? "", after ?? "", undefined, undefined, options);
    const hunks = found?.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
      ...lines,
    ]);
    return `${[...head, ...(hunks ?? replaced(before ?? "", after ?? ""))].join("\n")}\n`;
  };
}

/** Everything out and everything in: long, and true. */
function replaced(before: string, after: string): string[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const head = `@@ -${range(1, old.length)} +${range(1, fresh.length)} @@`;
  return [head, ...marked("-", old), ...marked("+", fresh)];
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Lines are counted from one; an empty range names the line before it. */
function range(start: number, length: number): string {
  return `${length === 0 ? start - 1 : start},${length}`;
}

function marked(sign: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) =>
    line.endsWith("\n") ? [`${sign}${line.slice(0, -1)}`] : [`${sign}${line}`, NO_NEWLINE],
  );
}
