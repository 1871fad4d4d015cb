import type { Turn } from "@flint/protocol";
import { duration, escapeControls } from "@flint/view";
import { type LineBlock, span } from "../draw/line.ts";
import { type Look, marksFor } from "../draw/look.ts";

/** Shorter turns need no line about their time. */
const WORTH_SAYING_MS = 10_000;

/** The line at the end of a turn: why it ended if it did not complete, and how long the agent worked. */
export function turnEndBlock(turn: Turn, look: Look): LineBlock | undefined {
  const marks = marksFor(look.unicode);
  const workedMs = Math.max(0, (turn.durationMs ?? 0) - (turn.waitedMs ?? 0));
  const time = `${marks.between}${duration(workedMs)}`;
  switch (turn.status) {
    case "failed": {
      const message = escapeControls(turn.error?.message ?? "The turn failed.").replaceAll("\n", " ");
      return { head: [[span(marks.failed, "red"), span(` ${message}`, "red")]], indent: 2 };
    }
    case "interrupted":
      return { head: [[span(marks.declined, "yellow"), span(" Interrupted", "bold"), span(time, "dim")]] };
    case "completed":
      return workedMs < WORTH_SAYING_MS
        ? undefined
        : { head: [[span(`${marks.done} Worked for ${duration(workedMs)}`, "dim")]] };
    case "inProgress":
      return undefined;
  }
}
