const CONTEXT_LINES = 3;
const NO_NEWLINE = "\\ No newline at end of file";

/** How long to look for the shortest difference before a plain one will do. */
const SEARCH_MS = 200;

/** What happens to a file: its names and texts before and after; undefined where it does not exist. */
export interface FileDifference {
  readonly path: string;
  readonly newPath?: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/**
 * A change of a file as an exact unified diff: as short as can be found quickly, in any case true. A file that only
 * gets another name has the header of git for that.
 */
export async function exactDiff(
  { path, newPath = path, before, after }: FileDifference,
  searchMs = SEARCH_MS,
): Promise<string> {
  const renamed =
    newPath === path ? "" : `diff --git a/${path} b/${newPath}\nrename from ${path}\nrename to ${newPath}\n`;
  if (before === after) return renamed;
  const header = [
    before === undefined ? "--- /dev/null" : `--- a/${path}`,
    after === undefined ? "+++ /dev/null" : `+++ b/${newPath}`,
  ];
  const hunks = await shortHunks(before ?? "", after ?? "", searchMs);
  return `${renamed}${[...header, ...hunks].join("\n")}\n`;
}

async function shortHunks(before: string, after: string, timeout: number): Promise<string[]> {
  const { structuredPatch } = await import("diff");
  const options = { context: CONTEXT_LINES, timeout };
  const found = structuredPatch("", "", before, after, undefined, undefined, options);
  if (found === undefined) return hunk(linesOf(before), linesOf(after));
  return found.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
    ...lines,
  ]);
}

/** Lines with their line ends, so that a last line without one differs from the same line with one. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** One hunk from the first line that differs to the last. */
function hunk(before: readonly string[], after: readonly string[]): string[] {
  if (before.length === 0 && after.length === 0) return [];
  const same = commonStart(before, after);
  const sameEnd = commonStart(before.slice(same).toReversed(), after.slice(same).toReversed());
  const start = Math.max(0, same - CONTEXT_LINES);
  const trailing = Math.min(sameEnd, CONTEXT_LINES);
  const oldEnd = before.length - sameEnd;
  const newEnd = after.length - sameEnd;
  return [
    `@@ -${range(start + 1, oldEnd + trailing - start)} +${range(start + 1, newEnd + trailing - start)} @@`,
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
function range(start: number, length: number): string {
  return `${length === 0 ? start - 1 : start},${length}`;
}

function marked(sign: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) =>
    line.endsWith("\n") ? [`${sign}${line.slice(0, -1)}`] : [`${sign}${line}`, NO_NEWLINE],
  );
}
