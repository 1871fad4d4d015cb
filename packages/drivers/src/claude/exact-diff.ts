const CONTEXT_LINES = 3;

/** How long to look for the shortest difference before a plain one will do. */
const SEARCH_MS = 200;

/** A change of one file as an exact unified diff; undefined stands for a file that is not there. */
export async function exactDiff(
  path: string,
  before: string | undefined,
  after: string,
  searchMs: number = SEARCH_MS,
): Promise<string> {
  if (before === after) return "";
  const { structuredPatch } = await import("diff");
  const options = { context: CONTEXT_LINES, timeout: searchMs };
  const found = structuredPatch("", "", before ?? "", after, undefined, undefined, options);
  const hunks =
    found?.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
      ...lines,
    ]) ?? wholeHunk(before ?? "", after);
  const from = before === undefined ? "--- /dev/null" : `--- a/${path}`;
  return `${[from, `+++ b/${path}`, ...hunks].join("\n")}\n`;
}

/** Everything goes and everything comes: long, and true. */
function wholeHunk(before: string, after: string): string[] {
  const [gone, come] = [marked("-", before), marked("+", after)];
  const count = (lines: readonly string[]) => lines.filter((line) => !line.startsWith("\\")).length;
  return [`@@ -${range(1, count(gone))} +${range(1, count(come))} @@`, ...gone, ...come];
}

/** Lines are counted from one; an empty range names the line before it. */
function range(start: number, length: number): string {
  return `${length === 0 ? start - 1 : start},${length}`;
}

function marked(sign: string, text: string): string[] {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  return lines.flatMap((line) =>
    line.endsWith("\n")
      ? [`${sign}${line.slice(0, -1)}`]
      : [`${sign}${line}`, "\\ No newline at end of file"],
  );
}
