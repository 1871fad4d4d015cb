import { isKnownItem, type Turn } from "@flint/protocol";
import { type DiffBlock, diffBlock } from "@flint/view";
import type { CommandId } from "@flint/view/commands";
import { canSplit, diffLines, splitDiff } from "../draw/diff.ts";
import { changeSpans } from "../draw/draw-blocks.ts";
import { type Line, lineOf, wrapLine } from "../draw/line.ts";
import type { RenderOptions } from "../draw/render-options.ts";
import type { SessionContext } from "../session/context.ts";
import { hintsIn, keyIn } from "./key-name.ts";
import { Pager } from "./pager.ts";

/** The parts of a session from which the changes of a thread are read. */
type DiffSource = Pick<SessionContext, "turns" | "settings" | "run" | "changed">;

/** The changes to files of a thread, or of its last turn. */
export function diffPage(session: DiffSource, turnId?: string): Pager {
  session.run(async () => {
    await session.turns.read();
    session.changed();
  });
  return changesPage({
    title: turnId === undefined ? "Changes in this thread" : "Changes in this turn",
    empty: "No files were changed by the agent's edits.",
    changes: () => {
      const turns = session.turns.known.filter(({ id }) => turnId === undefined || id === turnId);
      return { blocks: turns.flatMap(blocksIn), cwd: session.settings?.cwd ?? "/" };
    },
  });
}

/** Changes to files, and what is said of them. */
export interface ChangesContent {
  readonly title: string;
  /** The text that is shown if there are none. */
  readonly empty: string;
  /** Status of the changes; by default they are completed. */
  readonly status?: "completed" | "inProgress" | undefined;
  /** The changes, with absolute paths, and the folder that paths are shown from. */
  changes(): { readonly blocks: readonly DiffBlock[]; readonly cwd: string };
  /** Further keys, as in any pager. */
  command?(id: CommandId): boolean | "close";
  readonly hint?: string | undefined;
}

/** Changes to files on the whole screen: file by file, in one column or in two. */
export function changesPage(content: ChangesContent): Pager {
  const starts: number[] = [];
  let isSplit = false;
  return new Pager({
    title: content.title,
    hint: (look) => [...(content.hint === undefined ? [] : [content.hint]), ...keyHints(look)].join(" · "),
    lines: (look) => {
      const { blocks, cwd } = content.changes();
      if (blocks.length === 0) return [lineOf(content.empty, "dim")];
      const lines = isSplit && canSplit(look) ? splitLines : unifiedLines;
      return changeLines(blocks, cwd, look, { starts, lines, status: content.status ?? "completed" });
    },
    command: (id, pager) => {
      if (id === "toggleSplit") {
        isSplit = !isSplit;
        return true;
      }
      if (id !== "nextPart" && id !== "previousPart") return content.command?.(id) ?? false;
      const next = starts.find((start) => start > pager.top);
      const previous = starts.findLast((start) => start < pager.top);
      pager.goTo((id === "nextPart" ? next : previous) ?? pager.top);
      return true;
    },
  });
}

function keyHints(look: RenderOptions): string[] {
  const parts = `${keyIn(look, "previousPart")} ${keyIn(look, "nextPart")}`.trim();
  const files = parts === "" ? [] : [`${parts} previous and next file`];
  return [...files, ...hintsIn(look, [["toggleSplit", "two columns"]])];
}

type DrawDiff = (block: DiffBlock, look: RenderOptions) => Line[];

const unifiedLines: DrawDiff = (block, look) =>
  diffLines(block).flatMap((line) => wrapLine(line, look.columns - 1, 1));

const splitLines: DrawDiff = (block, look) => splitDiff(block, look, look.columns - 1);

function blocksIn({ items }: Turn): DiffBlock[] {
  return items.flatMap((item) => {
    if (!isKnownItem(item) || item.type !== "fileChange" || item.status !== "completed") return [];
    return item.changes.map(diffBlock);
  });
}

function changeLines(
  blocks: readonly DiffBlock[],
  cwd: string,
  look: RenderOptions,
  {
    starts,
    lines: draw,
    status,
  }: { readonly starts: number[]; readonly lines: DrawDiff; readonly status: "completed" | "inProgress" },
): Line[] {
  const lines: Line[] = [];
  starts.length = 0;
  for (const block of blocks) {
    starts.push(lines.length);
    lines.push(changeSpans(block, status, look, cwd));
    lines.push(...draw(block, look), []);
  }
  return lines;
}
