import { textWidth } from "@flint/tui/draw";
import { escapeControls } from "@flint/view";

/** A diff, and whose it is. */
export interface TitledDiff {
  readonly title: string;
  readonly diff: string;
}

const GAP = " │ ";
const LEAST_COLUMNS = 36;
/** What git says about a file before its changes, besides its name. */
const HEADER = /^(?:diff --git |index |--- |\+\+\+ |similarity index )/;

/** Diffs in columns beside each other, file by file; undefined if so many columns would be too narrow to read. */
export function sideBySide(diffs: readonly TitledDiff[], width: number): string | undefined {
  const columns = Math.floor((width - GAP.length * (diffs.length - 1)) / diffs.length);
  if (columns < LEAST_COLUMNS) return undefined;
  const byFile = diffs.map(({ diff }) => filesOf(diff));
  const files = [...new Set(byFile.flatMap((changes) => [...changes.keys()]))].sort();
  const rule = "─".repeat(columns);
  const rows = [
    ...inColumns(
      diffs.map(({ title }) => [title]),
      columns,
    ),
    diffs.map(() => rule).join("─┼─"),
    ...files.flatMap((file) => [
      ...inColumns(
        byFile.map((changes) => [file, ...(changes.get(file) ?? ["(unchanged)"])]),
        columns,
      ),
      diffs.map(() => rule).join("─┼─"),
    ]),
  ];
  return `${rows.join("\n")}\n`;
}

/** The changes of each file in a unified diff. */
function filesOf(diff: string): ReadonlyMap<string, readonly string[]> {
  const files = new Map<string, string[]>();
  let lines: string[] = [];
  let isHeader = false;
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    if (line.startsWith("diff --git ")) {
      lines = [];
      isHeader = true;
      files.set(fileOf(line), lines);
    }
    if (line.startsWith("@@")) isHeader = false;
    if (!isHeader || !HEADER.test(line)) lines.push(line);
  }
  return files;
}

/** The name after `b/`, which is the new one. */
function fileOf(header: string): string {
  return header.replace(/^diff --git .* "?b\//, "").replace(/"$/, "");
}

/** Lines of columns as rows; a line that is too long continues below. */
function inColumns(columns: readonly (readonly string[])[], width: number): string[] {
  const cells = columns.map((lines) => lines.flatMap((line) => wrapped(line, width)));
  const height = Math.max(...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_, index) =>
    cells
      .map((lines) => padded(lines[index] ?? "", width))
      .join(GAP)
      .trimEnd(),
  );
}

function wrapped(line: string, width: number): string[] {
  const parts: string[] = [];
  let part = "";
  for (const character of escapeControls(line.replaceAll("\t", "  "))) {
    if (textWidth(part + character) > width) {
      parts.push(part);
      part = "";
    }
    part += character;
  }
  return [...parts, part];
}

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - textWidth(text)));
}
