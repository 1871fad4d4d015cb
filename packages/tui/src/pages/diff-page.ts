import { isKnownItem, type ThreadState, type Turn } from "@flint/protocol";
import { diffBlock, type RowStatus } from "@flint/view";
import { diffLines } from "../draw/diff.ts";
import { changeSpans } from "../draw/draw-blocks.ts";
import { type Line, lineOf, wrapLine } from "../draw/line.ts";
import type { Look } from "../draw/look.ts";
import { Pager } from "./pager.ts";

/** The changes to files of a thread, or of its last turn. */
export function diffPage(state: () => ThreadState | undefined, turnId?: string): Pager {
  const starts: number[] = [];
  return new Pager({
    title: turnId === undefined ? "Changes in this thread" : "Changes in this turn",
    hint: "[ ] previous and next file",
    lines: (look) => {
      const now = state();
      const turns = (now?.turns ?? []).filter(({ id }) => turnId === undefined || id === turnId);
      return changeLines(turns, now?.settings.cwd ?? "/", look, starts);
    },
    command: (id, pager) => {
      if (id !== "nextPart" && id !== "previousPart") return false;
      const next = starts.find((start) => start > pager.top);
      const previous = starts.findLast((start) => start < pager.top);
      pager.goTo((id === "nextPart" ? next : previous) ?? pager.top);
      return true;
    },
  });
}

function changeLines(turns: readonly Turn[], cwd: string, look: Look, starts: number[]): Line[] {
  const lines: Line[] = [];
  starts.length = 0;
  for (const item of turns.flatMap(({ items }) => items)) {
    if (!isKnownItem(item) || item.type !== "fileChange" || item.status !== "completed") continue;
    for (const change of item.changes) {
      const block = diffBlock(change);
      const status: RowStatus = "completed";
      starts.push(lines.length);
      lines.push(changeSpans(block, status, look, cwd));
      lines.push(...diffLines(block).flatMap((line) => wrapLine(line, look.columns - 1, 1)), []);
    }
  }
  return lines.length === 0 ? [lineOf("No files were changed by the agent's edits.", "dim")] : lines;
}
