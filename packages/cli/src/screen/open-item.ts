import type { ThreadItem } from "@flint/protocol";
import { activityOf, duration, escapeControls, rowOf } from "@flint/view";
import { commandLines, outputLines } from "./draw-blocks.ts";
import { callLine, statusMark } from "./draw-row.ts";
import { indented, type Line, lineOf, span } from "./line.ts";
import { type Look, marksFor } from "./look.ts";
import { OutputTail } from "./streamed.ts";

/** How much of a running command's output is shown below it. */
const LIVE_OUTPUT_LINES = 4;
const KEPT_LINES = 10;

/** An item in progress: what it was when it started, and what was streamed since. */
export class OpenItem {
  readonly item: ThreadItem;
  readonly startedAt: number;
  readonly output = new OutputTail(KEPT_LINES);
  progress = "";

  constructor(item: ThreadItem, startedAt: number) {
    this.item = item;
    this.startedAt = startedAt;
  }

  /** What the agent is doing, for the status line. */
  get activity(): string {
    return activityOf(this.item);
  }

  /** Its lines while it is in progress; none for what is only shown when it is complete. */
  lines(look: Look, now: number): Line[] {
    const row = rowOf(this.item);
    const mark = statusMark("inProgress", marksFor(look.unicode));
    switch (row.family) {
      case "command": {
        const elapsed = span(`  ${duration(now - this.startedAt)}`, "dim");
        const [head = []] = commandLines(row.title, mark, elapsed);
        return [head, ...outputLines(this.output.last(LIVE_OUTPUT_LINES), look)];
      }
      case "tool":
        return [callLine(row, mark), ...this.#progressLines()];
      case "thought":
        return this.#thoughtLines(look);
      case "change":
      case "search":
      case "plan":
      case "user":
      case "message":
      case "review":
      case "notice":
      case "unknown":
        return [];
    }
  }

  #progressLines(): Line[] {
    const text = escapeControls(this.progress).replaceAll("\n", " ");
    return text === "" ? [] : [indented(lineOf(text, "dim"), 2)];
  }

  #thoughtLines(look: Look): Line[] {
    const last = this.output.last(2).lines.findLast((line) => line.trim() !== "");
    return last === undefined
      ? []
      : [lineOf(`${marksFor(look.unicode).thought} ${escapeControls(last)}`, "dim")];
  }
}
