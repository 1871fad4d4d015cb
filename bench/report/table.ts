import { keepsTarget, type Missing, type Row, ratioOf, type Unit } from "./row.ts";

const HEADINGS = ["figure", "value", "floor", "ratio", "target", "result"] as const;
/** From this column on numbers stand at the right, so that they can be compared at a glance. */
const TEXT_COLUMNS: readonly string[] = ["figure", "floor", "target", "result"];

/** One table of everything, as Markdown that is also easy to read as plain text. */
export function renderTable(rows: readonly (Row | Missing)[]): string {
  const body = rows.map((row) => ("reason" in row ? missingCells(row) : measuredCells(row)));
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...body.map((cells) => (cells[column] ?? "").length)),
  );
  const rule = widths.map((width, column) => ruleCell(width, isText(column)));
  const lines = [HEADINGS, ...body].map((cells) => line(cells, widths));
  return [lines[0], `|${rule.join("|")}|`, ...lines.slice(1)].join("\n");
}

/** A number as people read it: three digits that count, and its unit. */
export function formatAmount(value: number, unit: Unit): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  const number = value.toFixed(digits);
  return unit === "" || unit === "/s" ? `${number}${unit}` : `${number} ${unit}`;
}

function measuredCells(row: Row): string[] {
  const { figure, value, unit, floor } = row;
  const ratio = ratioOf(row);
  const kept = keepsTarget(row);
  return [
    figure,
    formatAmount(value, unit),
    floor === undefined ? "" : `${formatAmount(floor.value, unit)} ${floor.name}`,
    ratio === undefined ? "" : ratio.toFixed(2),
    targetText(row),
    kept === undefined ? "" : kept ? "ok" : "over",
  ];
}

function targetText({ target, unit }: Row): string {
  if (target === undefined) return "";
  return target.of === "ratio"
    ? `ratio ≤ ${target.most}`
    : `≤ ${target.most}${unit === "" ? "" : ` ${unit}`}`;
}

function missingCells({ figure }: Missing): string[] {
  return [figure, "", "", "", "", "not taken"];
}

function line(cells: readonly string[], widths: readonly number[]): string {
  const padded = widths.map((width, column) => {
    const cell = cells[column] ?? "";
    return isText(column) ? cell.padEnd(width) : cell.padStart(width);
  });
  return `| ${padded.join(" | ")} |`;
}

function ruleCell(width: number, isTextColumn: boolean): string {
  return isTextColumn ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`;
}

function isText(column: number): boolean {
  return TEXT_COLUMNS.includes(HEADINGS[column] ?? "");
}
