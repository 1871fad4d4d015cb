import type { ThreadItem } from "@flint/protocol";
import { escapeControls, rowOf } from "@flint/view";
import { commandLines, outputLines } from "../draw/draw-blocks.ts";
import { callLine, drawRow, statusMark } from "../draw/draw-row.ts";
import { cutLine, type Line, lineOf } from "../draw/line.ts";
import { type Look, marksFor } from "../draw/look.ts";
import { lastLines } from "../draw/streamed.ts";

/** How much of the output of a running command is shown below it. */
const OUTPUT_LINES = 4;

/** The rows of an item in progress; messages are drawn as they are streamed. */
export function openItemLines(item: ThreadItem, look: Look): Line[] {
  const marks = marksFor(look.unicode);
  return workLines(item, look).map((line) => cutLine(line, look.columns - 1, marks.more));
}

function workLines(item: ThreadItem, look: Look): Line[] {
  const row = rowOf(item);
  const marks = marksFor(look.unicode);
  const mark = statusMark(row.status, marks);
  switch (row.family) {
    case "command": {
      const output = row.body.find((block) => block.kind === "output");
      const [head = []] = commandLines(row.title, mark);
      return [head, ...outputLines(lastLines(output?.text ?? "", OUTPUT_LINES), look)];
    }
    case "thought": {
      const [block] = row.body;
      const text = block !== undefined && "text" in block ? block.text : "";
      const last = text.split("\n").findLast((line) => line.trim() !== "");
      return last === undefined ? [] : [lineOf(`${marks.thought} ${escapeControls(last)}`, "dim")];
    }
    case "plan":
      return drawRow(row, { look, elapsedMs: 0, cwd: "/", seen: false }).flatMap(({ head }) => [...head]);
    case "user":
    case "message":
      return [];
    default:
      return [callLine(row, mark)];
  }
}
