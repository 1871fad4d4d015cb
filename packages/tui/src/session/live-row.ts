import { duration, escapeControls, type Row } from "@flint/view";
import { commandLines, outputLines } from "../draw/draw-blocks.ts";
import { callLine, drawRow, statusMark } from "../draw/draw-row.ts";
import { cutLine, indented, type Line, lineOf, span } from "../draw/line.ts";
import { marksFor, type RenderOptions } from "../draw/render-options.ts";
import { lastLines } from "../draw/streamed.ts";

/** Number of lines of a running command's output that are shown below it. */
const OUTPUT_LINES = 4;
/** Number of lines of a message that the user has sent meanwhile. */
const USER_LINES = 3;

/** The lines of a row that is not final: what is in progress, or a step of a sub-agent at work. */
export function liveRowLines(row: Row, look: RenderOptions, elapsedMs: number): Line[] {
  const marks = marksFor(look.unicode);
  const margin = Math.min(row.depth * 2, Math.max(0, look.columns - 20));
  return workLines(row, look, elapsedMs).map((line) =>
    cutLine(indented(line, margin), look.columns - 1, marks.more),
  );
}

function workLines(row: Row, look: RenderOptions, elapsedMs: number): Line[] {
  const marks = marksFor(look.unicode);
  const mark = statusMark(row.status, marks);
  const isOpen = row.status === "inProgress";
  const took = isOpen && elapsedMs >= 1_000 ? span(`  ${seconds(elapsedMs)}`, "dim") : undefined;
  switch (row.family) {
    case "command": {
      const output = row.body.find((block) => block.kind === "output");
      const [head = []] = commandLines(row.title, mark, took);
      return isOpen ? [head, ...outputLines(lastLines(output?.text ?? "", OUTPUT_LINES), look)] : [head];
    }
    case "thought":
      return lastLine(row, marks.thought);
    case "plan":
      return drawnLines(row, look);
    case "message":
      return lastLine(row, marks.running);
    // Sent while something above it is still in progress.
    case "user":
      return drawnLines(row, look).slice(0, USER_LINES);
    default:
      return [[...callLine(row, mark), ...(took === undefined ? [] : [took])]];
  }
}

/** A row as it will be printed. */
function drawnLines(row: Row, look: RenderOptions): Line[] {
  return drawRow(row, { look, elapsedMs: 0, cwd: "/", seen: false }).flatMap(({ head }) => [...head]);
}

/** The last line of what is being written, on one row. */
function lastLine({ body }: Row, mark: string): Line[] {
  const [block] = body;
  const text = block !== undefined && "text" in block ? block.text : "";
  const last = text.split("\n").findLast((line) => line.trim() !== "");
  return last === undefined ? [] : [lineOf(`${mark} ${escapeControls(last)}`, "dim")];
}

/** Whole seconds, so that the row changes once a second. */
function seconds(milliseconds: number): string {
  return duration(Math.floor(milliseconds / 1_000) * 1_000).replace(".0s", "s");
}
