import { escapeControls } from "@flint/view";
import { type Line, lineOf, type Span, type Style, span, textWidth } from "../../draw/line.ts";

/** A diff, and whose it is. */
export interface TitledDiff {
  readonly title: string;
  readonly diff: string;
}

const GAP = " │ ";
const LEAST_COLUMNS = 36;
/** Lines of git about a file before its changes, besides its name. */
const HEADER = /^(?:diff --git |index |--- |\+\+\+ |similarity index )/;

/** Diffs in columns beside each other, file by file; undefined if so many columns would be too narrow to read. */
export function sideBySide(diffs: readonly TitledDiff[], width: number): Line[] | undefined {
  const columns = Math.floor((width - GAP.length * (diffs.length - 1)) / diffs.length);
  if (columns < LEAST_COLUMNS) return undefined;
  const byFile = diffs.map(({ diff }) => filesOf(diff));
  const files = [...new Set(byFile.flatMap((changes) => [...changes.keys()]))].sort();
  const rule = lineOf(diffs.map(() => "─".repeat(columns)).join("─┼─"), "dim");
  const titles = diffs.map(({ title }) => [span(title, "bold")]);
  const rows = files.flatMap((file) => {
    const cells = byFile.map((changes) => [
      span(file, "bold"),
      ...(changes.get(file) ?? ["(unchanged)"]).map((line) => span(line, styleOf(line))),
    ]);
    return [...inColumns(cells, columns), rule];
  });
  return [...inColumns(titles, columns), rule, ...rows];
}

/** Diffs one after the other, each below its title. */
export function belowEachOther(diffs: readonly TitledDiff[]): Line[] {
  return diffs.flatMap(({ title, diff }, at) => [
    ...(at === 0 ? [] : [[]]),
    lineOf(escapeControls(title), "bold"),
    ...(diff === "" ? ["no changes"] : diff.replace(/\n$/, "").split("\n")).map((line) =>
      lineOf(escapeControls(line), styleOf(line)),
    ),
  ]);
}

function styleOf(line: string): Style | undefined {
  if (line.startsWith("@@")) return "cyan";
  return line.startsWith("+") ? "green" : line.startsWith("-") ? "red" : undefined;
}

/** The changes of each file in a unified diff. Files whose names read the same are shown one after the other. */
function filesOf(diff: string): ReadonlyMap<string, readonly string[]> {
  const files = new Map<string, string[]>();
  let lines: string[] = [];
  let isHeader = false;
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    if (line.startsWith("diff --git ")) {
      const name = fileOf(line);
      lines = files.get(name) ?? [];
      isHeader = true;
      files.set(name, lines);
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
function inColumns(columns: readonly (readonly Span[])[], width: number): Line[] {
  const cells = columns.map((lines) => lines.flatMap((line) => wrapped(line, width)));
  const height = Math.max(...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_, row) =>
    cells.flatMap((lines, column) => [
      ...(column === 0 ? [] : [span(GAP, "dim")]),
      padded(lines[row] ?? span(""), width),
    ]),
  );
}

function wrapped({ text, style }: Span, width: number): Span[] {
  const parts: Span[] = [];
  let part = "";
  for (const character of escapeControls(text.replaceAll("\t", "  "))) {
    if (textWidth(part + character) > width) {
      parts.push(span(part, style));
      part = "";
    }
    part += character;
  }
  return [...parts, span(part, style)];
}

function padded({ text, style }: Span, width: number): Span {
  return span(text + " ".repeat(Math.max(0, width - textWidth(text))), style);
}
