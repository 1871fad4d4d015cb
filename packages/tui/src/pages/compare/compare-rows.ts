import { count, oneLine } from "@flint/view";
import { statusOf, usageText } from "@flint/view/tasks";
import { type Line, type Span, type Style, span, textWidth } from "../../draw/line.ts";
import { marksFor, type RenderOptions } from "../../draw/render-options.ts";
import { isWaiting, markOf } from "../tasks/task-rows.ts";
import type { Candidate } from "./candidates.ts";
import { changesIn } from "./comparison.ts";

const TITLES = ["AGENT", "STATUS", "USED", "CHANGES", "CHECKS"];

/** A row for each agent, below the titles of the columns. Read aloud, each row names what its parts are. */
export function compareRows(
  candidates: readonly Candidate[],
  selected: string | undefined,
  now: number,
  look: RenderOptions,
): Line[] {
  if (look.isPlain === true)
    return candidates.map((each, at) => {
      const row = `${at + 1}. ${spokenRow(each, now)}`;
      return [span(each.task.id === selected ? `Selected: ${row}` : row)];
    });
  const { current } = marksFor(look.unicode);
  const rows = candidates.map((each) => cellsOf(each, now));
  const widths = TITLES.map((title, column) =>
    Math.max(title.length, ...rows.map((cells) => textWidth(cells[column]?.text ?? ""))),
  );
  const padded = (cells: readonly Span[]) =>
    cells.map(({ text, style }, column) => {
      const missing = (widths[column] ?? 0) - textWidth(text);
      return span(`${text}${" ".repeat(missing)}  `, style);
    });
  return [
    [span("    "), ...padded(TITLES.map((title) => span(title, "dim")))],
    ...candidates.map(({ task }, at): Line => {
      const [mark, style] = markOf(task, look);
      const pointer = span(task.id === selected ? `${current} ` : "  ", "cyan");
      return [pointer, span(`${mark} `, style), ...padded(rows[at] ?? []), span(`#${task.number}`, "dim")];
    }),
  ];
}

function cellsOf(candidate: Candidate, now: number): Span[] {
  const { task, result } = candidate;
  const [checks, checkStyle] = checksOf(candidate);
  return [
    span(oneLine(task.executor), "cyan"),
    span(statusOf(task, now), isWaiting(task) ? "yellow" : undefined),
    span(usageText(task)),
    span(result === undefined ? "" : changesIn(result.diff)),
    span(checks, checkStyle),
  ];
}

function spokenRow(candidate: Candidate, now: number): string {
  const { task, result } = candidate;
  const changes = result === undefined ? "not read yet" : changesIn(result.diff);
  return [
    `Agent: ${oneLine(task.executor)}`,
    `Status: ${statusOf(task, now)}`,
    `Used: ${usageText(task)}`,
    `Changes: ${changes}`,
    `Checks: ${checksOf(candidate)[0] || "not read yet"}`,
    `Task ${task.number}`,
  ].join(". ");
}

/** Summarizes the checks of the last round. */
function checksOf({ checkCount, checks }: Candidate): readonly [string, Style | undefined] {
  if (checkCount === undefined) return ["", undefined];
  if (checkCount === 0) return ["none", "dim"];
  if (checks.length === 0) return ["not run yet", "dim"];
  const failed = checks.filter(({ exitCode }) => exitCode !== 0).length;
  if (failed > 0) return [`${failed} of ${count(checks.length, "check")} failed`, "red"];
  return [`${count(checks.length, "check")} passed`, "green"];
}
