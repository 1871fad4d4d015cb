import { isKnownItem, type ThreadState, type Turn } from "@flint/protocol";
import { diffBlock, type RowStatus } from "@flint/view";
import { canSplit, diffLines, splitDiff } from "../draw/diff.ts";
import { changeSpans } from "../draw/draw-blocks.ts";
import { type Line, lineOf, wrapLine } from "../draw/line.ts";
import type { Look } from "../draw/look.ts";
import { Pager } from "./pager.ts";

/** The changes to files of a thread, or of its last turn. */
export function diffPage(state: () => ThreadState | undefined, turnId?: string): Pager {
  const starts: number[] = [];
  let isSplit = false;
  return new Pager({
    title: turnId === undefined ? "Changes in this thread" : "Changes in this turn",
    hint: "[ ] previous and next file · s two columns",
    lines: (look) => {
      const now = state();
      const turns = (now?.turns ?? []).filter(({ id }) => turnId === undefined || id === turnId);
      const lines = isSplit && canSplit(look.columns) ? splitLines : unifiedLines;
      return changeLines(turns, now?.settings.cwd ?? "/", look, { starts, lines });
    },
    command: (id, pager) => {
      if (id === "toggleSplit") {
        isSplit = !isSplit;
        return true;
      }
      if (id !== "nextPart" && id !== "previousPart") return false;
      const next = starts.find((start) => start > pager.top);
      const previous = starts.findLast((start) => start < pager.top);
      pager.goTo((id === "nextPart" ? next : previous) ?? pager.top);
      return true;
    },
  });
}

type DrawDiff = (block: ReturnType<typeof diffBlock>, look: Look) => Line[];

const unifiedLines: DrawDiff = (block, look) =>
  diffLines(block).flatMap((line) => wrapLine(line, look.columns - 1, 1));

const splitLines: DrawDiff = (block, look) => splitDiff(block, look, look.columns - 1);

function changeLines(
  turns: readonly Turn[],
  cwd: string,
  look: Look,
  { starts, lines: draw }: { readonly starts: number[]; readonly lines: DrawDiff },
): Line[] {
  const lines: Line[] = [];
  starts.length = 0;
  for (const item of turns.flatMap(({ items }) => items)) {
    if (!isKnownItem(item) || item.type !== "fileChange" || item.status !== "completed") continue;
    for (const change of item.changes) {
      const block = diffBlock(change);
      const status: RowStatus = "completed";
      starts.push(lines.length);
      lines.push(changeSpans(block, status, look, cwd));
      lines.push(...draw(block, look), []);
    }
  }
  return lines.length === 0 ? [lineOf("No files were changed by the agent's edits.", "dim")] : lines;
}
