const CONTEXT_LINES = 3;
const NO_NEWLINE = "\\ No newline at end of file";

/** Time limit of the search for the shortest diff, before falling back to a longer one. */
const SEARCH_MS = 200;

/** A file before and after a change; its content is undefined where the file does not exist. */
export interface FileRevision {
  /** As shown in the header of the diff. */
  readonly path: string;
  /** Its path afterwards, if it is renamed. */
  readonly newPath?: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Computes the unified diff of a change. */
export type UnifiedDiff = (change: FileRevision) => string;

/**
 * The unified diff of a change: the shortest that is found within `searchMs`, and exact in any case. A file that is only
 * renamed gets git's header for that.
 */
export async function unifiedDiff(change: FileRevision, searchMs?: number): Promise<string> {
  return (await loadUnifiedDiff(searchMs))(change);
}

/** Loads the diff library once, for callers that need diffs synchronously. */
export async function loadUnifiedDiff(searchMs: number = SEARCH_MS): Promise<UnifiedDiff> {
  const { structuredPatch } = await import("diff");
  const options = { context: CONTEXT_LINES, timeout: searchMs };
  return ({ path, newPath = path, before, after }) => {
    const renamed =
      newPath === path
        ? ""
        : `diff --git a/${path} b/${newPath}\nrename from ${path}\nrename to ${newPath}\n`;
    if (before === after) return renamed;
    const header = [
      before === undefined ? "--- /dev/null" : `--- a/${path}`,
      after === undefined ? "+++ /dev/null" : `+++ b/${newPath}`,
    ];
    const found = structuredPatch("", "", before ?? "", after ?? "", undefined, undefined, options);
    const hunks = found?.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
      ...lines,
    ]);
    return `${renamed}${[...header, ...(hunks ?? singleHunk(before ?? "", after ?? ""))].join("\n")}\n`;
  };
}

/** One hunk from the first line that differs to the last. */
function singleHunk(oldText: string, newText: string): string[] {
  const [before, after] = [linesOf(oldText), linesOf(newText)];
  if (before.length === 0 && after.length === 0) return [];
  const same = commonStart(before, after);
  const sameEnd = commonStart(before.slice(same).toReversed(), after.slice(same).toReversed());
  const start = Math.max(0, same - CONTEXT_LINES);
  const trailing = Math.min(sameEnd, CONTEXT_LINES);
  const oldEnd = before.length - sameEnd;
  const newEnd = after.length - sameEnd;
  return [
    `@@ -${range(start + 1, oldEnd + trailing - start)} +${range(start + 1, newEnd + trailing - start)} @@`,
    ...prefixed(" ", before.slice(start, same)),
    ...prefixed("-", before.slice(same, oldEnd)),
    ...prefixed("+", after.slice(same, newEnd)),
    ...prefixed(" ", before.slice(oldEnd, oldEnd + trailing)),
  ];
}

/** Lines with their line endings, so that a last line without one differs from the same line with one. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function commonStart(left: readonly string[], right: readonly string[]): number {
  const differs = left.findIndex((line, index) => line !== right[index]);
  return differs === -1 ? left.length : differs;
}

/** Lines are counted from one; an empty range names the line before it. */
function range(start: number, length: number): string {
  return `${length === 0 ? start - 1 : start},${length}`;
}

function prefixed(prefix: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) =>
    line.endsWith("\n") ? [`${prefix}${line.slice(0, -1)}`] : [`${prefix}${line}`, NO_NEWLINE],
  );
}
