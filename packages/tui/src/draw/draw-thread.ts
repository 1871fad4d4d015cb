import type { Row, RowFamily } from "@flint/view";
import { indented, type Line, screenRows } from "./line.ts";
import { drawRowFor } from "./plain.ts";
import type { RenderOptions } from "./render-options.ts";

/** Options for drawing a whole thread. */
export interface ThreadLook {
  readonly look: RenderOptions;
  readonly cwd: string;
  /** A hint at how to see folded content. */
  readonly how?: string | undefined;
  /** Called with each row and the line at which it begins. */
  readonly began?: ((row: Row, line: number) => void) | undefined;
}

/** Families of rows that stand apart even if they are one line. */
const APART: ReadonlySet<RowFamily> = new Set(["user", "message", "review", "handoff"]);

/** Reports whether a row of a family has an empty line around it even if it is one line. */
export function hasBlankLines(family: RowFamily): boolean {
  return APART.has(family);
}

/** The steps of a sub-agent are indented, but never squeezed into less than this. */
const MIN_COLUMNS = 20;

/** The rows of the screen for the rows of a thread: single lines stand together, blocks apart. */
export function drawThread(rows: readonly Row[], { look, cwd, how, began }: ThreadLook): Line[] {
  const lines: Line[] = [];
  let last: "line" | "block" | undefined;
  for (const row of rows) {
    const margin = Math.min(row.depth * 2, Math.max(0, look.columns - MIN_COLUMNS));
    const inner = { ...look, columns: look.columns - margin };
    const context = { look: inner, elapsedMs: row.durationMs ?? 0, cwd, seen: false, how };
    let hasBegun = false;
    for (const block of drawRowFor(row, context)) {
      const drawn = screenRows(block, inner);
      const kind = drawn.length === 1 && !hasBlankLines(row.family) ? "line" : "block";
      if (last !== undefined && !(last === "line" && kind === "line")) lines.push([]);
      if (!hasBegun) began?.(row, lines.length);
      hasBegun = true;
      lines.push(...drawn.map((line) => indented(line, margin)));
      last = kind;
    }
  }
  return lines;
}
