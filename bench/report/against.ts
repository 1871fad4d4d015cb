import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { interleave } from "./rounds.ts";
import { median } from "./statistics.ts";

/** A row of a printed table: what is compared of it is its ratio, or its value if it has no floor. */
export interface PrintedRow {
  readonly figure: string;
  readonly amount: number;
}

/** One figure of two checkouts, as medians. */
export interface Comparison {
  readonly figure: string;
  /** Undefined if the other checkout does not have it. */
  readonly before: number | undefined;
  readonly after: number;
}

/** Measures the named figures of two checkouts in turns, and compares the medians of all rows. */
export async function measureAgainst(
  other: string,
  figures: readonly string[],
  options: readonly string[],
  rounds: number,
): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const figure of figures) {
    process.stderr.write(`measuring ${figure} in both checkouts …\n`);
    const args = ["--only", figure, ...options];
    const { before, after } = await interleave(rounds, {
      before: () => benchIn(other, args),
      after: () => benchIn(process.cwd(), args),
    });
    comparisons.push(...compare(before, after));
  }
  return comparisons;
}

/** Runs the benchmark of a checkout; no rows if it does not know the figure. */
async function benchIn(folder: string, args: readonly string[]): Promise<PrintedRow[]> {
  const run = promisify(execFile)("npm", ["run", "--silent", "bench", "--", ...args], { cwd: folder });
  // Expected: an older checkout does not have the figure, or one row could not be measured; the others are printed.
  const { stdout } = await run.catch((error: { readonly stdout?: string }) => error);
  return readTable(stdout ?? "");
}

/** The rows of a table that were measured. */
export function readTable(markdown: string): PrintedRow[] {
  const lines = markdown.split("\n").filter((line) => line.startsWith("| "));
  return lines.slice(1).flatMap((line) => {
    const [figure = "", value = "", , ratio = ""] = line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim());
    const amount = Number.parseFloat(ratio === "" ? value : ratio);
    return Number.isNaN(amount) ? [] : [{ figure, amount }];
  });
}

/** The medians of the rows of several runs, by the names of the later ones. */
export function compare(
  before: readonly (readonly PrintedRow[])[],
  after: readonly (readonly PrintedRow[])[],
): Comparison[] {
  const names = new Set(after.flat().map(({ figure }) => figure));
  return [...names].map((figure) => {
    const [old = [], now = []] = [before, after].map((runs) =>
      runs.flat().flatMap((row) => (row.figure === figure ? [row.amount] : [])),
    );
    return { figure, before: old.length === 0 ? undefined : median(old), after: median(now) };
  });
}

/** A Markdown table with the change of each figure; more is worse in all of them but rates (`/s`). */
export function renderComparison(comparisons: readonly Comparison[]): string {
  const rows = comparisons.map(({ figure, before, after }) => {
    const change = before === undefined || before === 0 ? "" : percent(after / before - 1);
    return `| ${figure} | ${before?.toFixed(2) ?? "new"} | ${after.toFixed(2)} | ${change} |`;
  });
  return ["| figure | before | after | change |", "|---|---:|---:|---:|", ...rows].join("\n");
}

function percent(part: number): string {
  const rounded = Math.round(part * 100);
  return `${rounded > 0 ? "+" : ""}${rounded} %`;
}
